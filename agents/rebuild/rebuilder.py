"""Rebuilds PostgreSQL's memories from Kafka: from `memory.state`, and from `memory.events` as far as Kafka keeps it."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, Protocol

from msgspec import Struct, structs

from agents.curation.rules.statements.normalise import normalise
from schemas.codec import decode
from schemas.erasure.erasures import Fence
from schemas.errors import Misconfigured, Rejected
from schemas.kafka import topics
from schemas.memories.events import MemoryEvent
from schemas.memories.memories import Memory
from schemas.policies.policies import PolicySelector
from sinks.erasure.purges import Purges
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query
from sinks.rebuild.rebuilds import Page, Partition, Rebuilds, RebuiltMemory, RebuiltVersion, latest

log = logging.getLogger(__name__)

# The state topic first: it has every memory, so that few events change anything.
TOPICS: Final = (topics.STATE, topics.EVENTS)

HEADERS: Final = ("memstream-namespace", "memstream-version", "memstream-sequence")

Progress = Callable[[str, int], object]


class Chunk(Protocol):
    """Records of a partition, in order, and the next offset."""

    @property
    def partition(self) -> int: ...

    @property
    def records(self) -> Sequence[Any]: ...

    @property
    def position(self) -> int: ...


class Log(Protocol):
    """Reads topics by logical name."""

    async def beginnings(self, topic: str) -> dict[int, int]: ...

    def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]: ...


class ReadCounts(Struct):
    """The numbers of records read and of unreadable ones."""

    records: int = 0
    unreadable: int = 0


class Rebuild:
    """Can be interrupted and repeated: it resumes. No worker may run meanwhile: `require_no_workers` raises Misconfigured if
    one does. It is called after the database is marked, as no worker starts from then on."""

    def __init__(
        self,
        pool: Pool,
        log: Log,
        policies: PolicySelector,
        progress: Progress = lambda topic, records: None,
        *,
        require_no_workers: Callable[[], Awaitable[None]],
    ) -> None:
        self._pool = pool
        self._rebuilds = Rebuilds(pool)
        self._log = log
        self._policies = policies
        self._progress = progress
        self._alone = require_no_workers

    async def run(self, *, onto_backup: bool = False) -> ReadCounts:
        """Rebuilds the tables. Call `Rebuilds.end` after the index is rebuilt.

        Raises Misconfigured for a database with memories unless it is declared a backup, for empty topics if it is, and
        while workers run.
        """
        positions = await self._rebuilds.positions()
        if positions:
            await self._alone()
        else:
            positions = await self._begin(onto_backup)
        read = ReadCounts()
        for topic in TOPICS:
            of_topic = {partition: at for (name, partition), at in positions.items() if name == topic}
            async for piece in self._log.chunks(topic, of_topic):
                await self._rebuilds.apply(page((topic, piece.partition), piece, read))
                self._progress(topic, read.records)
        await self._forget()
        await self._rebuilds.derive_rest()
        return read

    async def _begin(self, onto_backup: bool) -> dict[Partition, int]:
        if not onto_backup and await self._rebuilds.holds_memories():
            raise Misconfigured(
                "the database has memories: rebuild into an empty one, or pass --onto-backup if it is a restored backup, "
                "whose memories are replaced by Kafka's newer states"
            )
        positions = {
            (topic, number): at for topic in TOPICS for number, at in (await self._log.beginnings(topic)).items()
        }
        if onto_backup and not await self._has_records(positions):
            raise Misconfigured(
                "memory.state has no memories, so the database would be empty: check that this is the right cluster"
            )
        await self._rebuilds.begin(positions)
        try:
            await self._alone()
        except BaseException:
            await self._rebuilds.cancel()  # nothing was changed yet: cancel the rebuild, so that workers may start
            raise
        return positions

    async def _has_records(self, positions: Mapping[Partition, int]) -> bool:
        of_state = {partition: at for (name, partition), at in positions.items() if name == topics.STATE}
        async with aclosing(self._log.chunks(topics.STATE, of_state)) as pieces:
            return await anext(pieces, None) is not None

    async def _forget(self) -> None:
        """Deletes the data of namespaces that were erased after the backup."""
        for namespace, at in (await self._rebuilds.fenced()).items():
            done = False
            while not done:
                with translated("erasing what was erased"):
                    async with self._pool.acquire() as connection, connection.transaction():
                        await connection.execute(query("memories", "lock_namespace"), namespace)
                        scopes = self._policies.scopes_feeding(namespace)
                        done = await Purges(connection).forget(namespace, scopes, Fence(at))


def page(partition: Partition, piece: Chunk, read: ReadCounts) -> Page:
    """The content of a chunk; counts records in `read`."""
    recorded: list[RebuiltMemory] = []
    versions: list[RebuiltVersion] = []
    for record in piece.records:
        read.records += 1
        try:
            each, version = from_state_record(record) if partition[0] == topics.STATE else from_event_record(record)
        except Rejected as rejected:
            read.unreadable += 1
            log.warning("ignoring the record at %s[%d]@%d: %s", *partition, record.offset, rejected)
            continue
        recorded.append(each)
        versions += [] if version is None else [version]
    last = latest(recorded).values()
    erased = {each.memory_id: each.sequence for each in latest(each for each in recorded if each.erased).values()}
    kept = [version for version in versions if version.after.sequence > erased.get(version.after.memory_id, 0)]
    deleted = {version.after.memory_id: version.after for version in kept if version.after.status == "deleted"}
    return Page(
        partition=partition,
        position=piece.position,
        latest=tuple(last),
        rows=[row(each.memory) for each in last if each.memory is not None],
        shells=[row(deleted[each.memory_id]) for each in last if each.memory is None and each.memory_id in deleted],
        heads=heads(recorded),
        versions=kept,
        erased=[version for version in versions if version.change == "purged" and version.cause.erased is None],
        fences={each.after.namespace: each.at for each in versions if each.cause.erased == "namespace"},
    )


def from_state_record(record: Any) -> tuple[RebuiltMemory, None]:
    """The memory of a state record. Raises Rejected for anything but a memory or one of memstream's tombstones."""
    memory_id = (record.key or b"").decode("utf-8", "replace")
    if record.value is not None:
        memory = decode(record.value, Memory)
        return memory_row(memory, in_state=True), None
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers}
    try:
        namespace, version, sequence = (headers[name] for name in HEADERS)
        numbers = int(version), int(sequence)
    except (KeyError, ValueError) as exc:
        raise Rejected("invalid", "a tombstone without memstream's headers") from exc
    gone = RebuiltMemory(
        memory_id=memory_id,
        namespace=namespace,
        version=numbers[0],
        sequence=numbers[1],
        memory=None,
        in_state=True,
    )
    return gone, None


def from_event_record(record: Any) -> tuple[RebuiltMemory, RebuiltVersion]:
    """The change of an event record. Raises Rejected for anything but a memory event."""
    event = decode(record.value, MemoryEvent)
    data = event.data
    version = RebuiltVersion(change=data.change, before=data.before, after=data.memory, cause=data.cause, at=event.time)
    return memory_row(data.memory, in_state=False, erased=data.change == "purged"), version


def memory_row(memory: Memory, *, in_state: bool, erased: bool = False) -> RebuiltMemory:
    return RebuiltMemory(
        memory_id=memory.memory_id,
        namespace=memory.namespace,
        version=memory.version,
        sequence=memory.sequence,
        memory=None if memory.status == "deleted" else memory,
        in_state=in_state,
        erased=erased,
    )


def heads(recorded: Iterable[RebuiltMemory]) -> dict[str, int]:
    """The highest sequence of each namespace."""
    found: dict[str, int] = {}
    for each in recorded:
        found[each.namespace] = max(found.get(each.namespace, 0), each.sequence)
    return found


def row(memory: Memory) -> dict[str, Any]:
    """All columns by name."""
    return structs.asdict(memory) | {"normalised": normalise(memory.text)}
