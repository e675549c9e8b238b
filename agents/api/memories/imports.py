"""Imports memories from JSON Lines. Each line becomes a command; commands are sent in batches while the body is still being
received."""

from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict

from agents.api.http.line_splitter import MAX_LINE_BYTES, Line
from agents.curation.rules.statements.normalise import normalise
from schemas import codec, ids
from schemas.conversations.messages import Identifier, Moment, require_storable
from schemas.errors import Rejected
from schemas.extraction.candidates import FullText, Labels, Text
from schemas.memories.commands import Command, Origin
from schemas.memories.memories import Status
from schemas.policies.policies import Fraction

BATCH_LINES: Final = 200
MAX_REPORTED_PROBLEMS: Final = 1_000

MAX_CHECKED_BATCHES: Final = 500  # batches checked per progress step

Send: TypeAlias = Callable[[Sequence[Command]], Awaitable[None]]
Settled: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Collection[str]]]


class ImportedLine(Origin, frozen=True, kw_only=True, omit_defaults=True):
    """A memory as exports contain it. Only `text` is required. Other fields, such as the namespace and versions, are
    ignored.

    Without a `memory_id`, the id derives from namespace, kind and text. Links to missing memories are dropped.
    """

    text: Annotated[str, Meta(min_length=1, max_length=4_000, pattern=r"\S")]
    memory_id: Identifier | None = None
    kind: Identifier | None = None
    tags: Labels | None = None
    context: Text | None = None
    full_text: FullText | None = None
    importance: Fraction | None = None
    confidence: Fraction | None = None
    pinned: bool | None = None
    expires_at: Moment | None = None
    status: Status = "active"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_storable(self.expires_at)


class RejectedLine(Struct, frozen=True):
    """A line that was not imported: its number, from 1, and the error."""

    line: int
    reason: str


class ImportReport(Struct, frozen=True, kw_only=True):
    """The result of an import: `accepted` lines were sent to the curator, `skipped` lines are memories that are not live,
    `rejected` lines are invalid. `problems` has the errors of the first thousand rejected lines. The outcome of a line is
    stored under the command id `import:{import_id}:{line}`."""

    import_id: str
    namespace: str
    lines: int
    accepted: int
    skipped: int
    rejected: int
    problems: tuple[RejectedLine, ...]


class ImportProgress(Struct, frozen=True, kw_only=True):
    """The progress of an import: `lines` read so far, `accepted` of them sent to the curator, `carried_out` of those
    applied."""

    import_id: str
    lines: int
    accepted: int
    carried_out: int


class Import:
    """One import. Repeating it with the same `import_id` applies each line once. Repeating it with another id changes no
    existing memory."""

    def __init__(self, namespace: str, import_id: str, actor: str, clock: Callable[[], datetime], send: Send) -> None:
        self._namespace = namespace
        self._import_id = import_id
        self._actor = actor
        self._clock = clock
        self._send = send
        self._counts = {"lines": 0, "accepted": 0, "skipped": 0, "rejected": 0}
        self._problems: list[RejectedLine] = []
        self._batches: deque[tuple[str, int]] = deque()
        self._applied = 0

    async def run(self, lines: AsyncIterable[Line]) -> ImportReport:
        """Returns once Kafka has confirmed all commands. Raises Retryable; the import may then be repeated under its id."""
        batch: list[Command] = []
        async for line in lines:
            self._counts["lines"] += 1
            if (command := self._command(line)) is not None:
                batch.append(command)
            if len(batch) >= BATCH_LINES:
                await self._send_all(batch)
                batch = []
        await self._send_all(batch)
        return ImportReport(
            import_id=self._import_id, namespace=self._namespace, problems=tuple(self._problems), **self._counts
        )

    async def _send_all(self, commands: Sequence[Command]) -> None:
        if commands:
            await self._send(commands)
            self._counts["accepted"] += len(commands)
            self._batches.append((commands[-1].command_id, self._counts["accepted"]))

    async def progress(self, settled: Settled) -> ImportProgress:
        """Returns the progress. The curator applies a namespace's commands in order, so a batch is applied once its last
        command is. Raises Retryable."""
        checked = list(islice(self._batches, MAX_CHECKED_BATCHES))
        applied = await settled(self._namespace, [command_id for command_id, _ in checked])
        last = max((at for at, (command_id, _) in enumerate(checked) if command_id in applied), default=-1)
        for _ in range(last + 1):
            _, self._applied = self._batches.popleft()
        return ImportProgress(
            import_id=self._import_id,
            lines=self._counts["lines"],
            accepted=self._counts["accepted"],
            carried_out=self._applied,
        )

    def _command(self, line: Line) -> Command | None:
        try:
            imported = decode_line(line)
        except Rejected as exc:
            self._counts["rejected"] += 1
            if len(self._problems) < MAX_REPORTED_PROBLEMS:
                self._problems.append(RejectedLine(line.number, exc.detail))
            return None
        if imported.status != "active":
            self._counts["skipped"] += 1
            return None
        return self._import(line.number, imported)

    def _import(self, number: int, imported: ImportedLine) -> Command:
        kind, fields = imported.kind, asdict(imported)
        origin = Origin(**{name: fields[name] for name in Origin.__struct_fields__})
        copied = ("text", "tags", "context", "full_text", "importance", "confidence", "pinned", "expires_at")
        return Command(
            command_id=f"import:{self._import_id}:{number}",
            kind="import",
            namespace=self._namespace,
            at=self._clock(),
            actor=self._actor,
            reason="import",
            memory_id=imported.memory_id or ids.derive("imported", self._namespace, kind, normalise(imported.text)),
            memory_kind=kind,
            origin=origin,
            **{name: fields[name] for name in copied},
        )


def decode_line(line: Line) -> ImportedLine:
    """Decodes a line. Raises Rejected."""
    if line.data is None:
        raise Rejected("invalid", f"the line is longer than {MAX_LINE_BYTES:,} bytes")
    return codec.decode_untrusted(line.data, ImportedLine)
