"""Bringing memories in from JSON Lines: each line becomes a command, sent in batches while the next lines still come in."""

from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict

from agents.api.http.lines import LONGEST, Line
from agents.curation.rules.normalise import normalise
from schemas import codec, ids
from schemas.conversations.messages import Identifier, Moment, require_storable
from schemas.errors import Rejected
from schemas.extraction.candidates import FullText, Labels, Text
from schemas.memories.commands import Command, Origin
from schemas.memories.memories import Status
from schemas.policies.policies import Fraction

AT_ONCE: Final = 200  # commands sent together
MOST_TOLD: Final = 1_000  # lines of which a report says what is wrong

LOOKED_AT: Final = 500  # of commands that were sent together the last ones

Send: TypeAlias = Callable[[Sequence[Command]], Awaitable[None]]
Settled: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Collection[str]]]


class ImportedLine(Origin, frozen=True, kw_only=True, omit_defaults=True):
    """A memory as an export tells it; only `text` is needed. What else a line says is passed over, as its namespace and versions.

    Without a `memory_id` it gets one of its namespace, kind and text. Links may lead to what is not there: they are left.
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
    """The line's number, from 1, and what is wrong with it."""

    line: int
    reason: str


class ImportReport(Struct, frozen=True, kw_only=True):
    """Of `lines`, `accepted` are on their way to the curator; `skipped` are of memories that are no longer live; `rejected` are
    not brought in, and `problems` says why of the first thousand. What became of a line is told under the id of its command:
    `import:{import_id}:{line}`."""

    import_id: str
    namespace: str
    lines: int
    accepted: int
    skipped: int
    rejected: int
    problems: tuple[RejectedLine, ...]


class ImportProgress(Struct, frozen=True, kw_only=True):
    """Of the `lines` that were read so far, `accepted` are on their way to the curator, and `carried_out` of those are done."""

    import_id: str
    lines: int
    accepted: int
    carried_out: int


class Import:
    """One run. The same lines under the same `import_id` are carried out once; under another one they change nothing that is
    there."""

    def __init__(self, namespace: str, import_id: str, actor: str, clock: Callable[[], datetime], send: Send) -> None:
        self._namespace = namespace
        self._import_id = import_id
        self._actor = actor
        self._clock = clock
        self._send = send
        self._counts = {"lines": 0, "accepted": 0, "skipped": 0, "rejected": 0}
        self._problems: list[RejectedLine] = []
        self._sent: deque[tuple[str, int]] = deque()
        self._carried_out = 0

    async def run(self, lines: AsyncIterable[Line]) -> ImportReport:
        """Returns when all commands are confirmed by Kafka. Raises Retryable; the run may then be repeated under its id."""
        waiting: list[Command] = []
        async for line in lines:
            self._counts["lines"] += 1
            if (command := self._command(line)) is not None:
                waiting.append(command)
            if len(waiting) >= AT_ONCE:
                await self._send_all(waiting)
                waiting = []
        await self._send_all(waiting)
        return ImportReport(
            import_id=self._import_id, namespace=self._namespace, problems=tuple(self._problems), **self._counts
        )

    async def _send_all(self, commands: Sequence[Command]) -> None:
        if commands:
            await self._send(commands)
            self._counts["accepted"] += len(commands)
            self._sent.append((commands[-1].command_id, self._counts["accepted"]))

    async def progress(self, settled: Settled) -> ImportProgress:
        """The curator takes a namespace's commands in their order: where the last of those sent together is settled, all before
        it are. Raises Retryable."""
        looked_at = list(islice(self._sent, LOOKED_AT))
        found = await settled(self._namespace, [command_id for command_id, _ in looked_at])
        last = max((at for at, (command_id, _) in enumerate(looked_at) if command_id in found), default=-1)
        for _ in range(last + 1):
            _, self._carried_out = self._sent.popleft()
        return ImportProgress(
            import_id=self._import_id,
            lines=self._counts["lines"],
            accepted=self._counts["accepted"],
            carried_out=self._carried_out,
        )

    def _command(self, line: Line) -> Command | None:
        try:
            said = decoded(line)
        except Rejected as exc:
            self._counts["rejected"] += 1
            if len(self._problems) < MOST_TOLD:
                self._problems.append(RejectedLine(line.number, exc.detail))
            return None
        if said.status != "active":
            self._counts["skipped"] += 1
            return None
        return self._import(line.number, said)

    def _import(self, number: int, said: ImportedLine) -> Command:
        kind, fields = said.kind, asdict(said)
        origin = Origin(**{name: fields[name] for name in Origin.__struct_fields__})
        given = ("text", "tags", "context", "full_text", "importance", "confidence", "pinned", "expires_at")
        return Command(
            command_id=f"import:{self._import_id}:{number}",
            kind="import",
            namespace=self._namespace,
            at=self._clock(),
            actor=self._actor,
            reason="import",
            memory_id=said.memory_id or ids.derive("imported", self._namespace, kind, normalise(said.text)),
            memory_kind=kind,
            origin=origin,
            **{name: fields[name] for name in given},
        )


def decoded(line: Line) -> ImportedLine:
    """Raises Rejected."""
    if line.data is None:
        raise Rejected("invalid", f"the line is longer than {LONGEST:,} bytes")
    return codec.decode_untrusted(line.data, ImportedLine)
