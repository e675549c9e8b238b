"""Generations: their plans, how far each conversation of them is, the namespaces they feed, and what their cutover changed."""

import logging
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime
from typing import Final, TypeAlias

import asyncpg
from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment, Scope
from schemas.errors import Misconfigured, Retryable
from schemas.extraction.candidates import Source
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from schemas.replay.generations import Generation, GenerationStatus, Plan, Progress
from sinks.archive.messages import ArchivedMessage, archived_messages, without_erased
from sinks.memories.reader import Reader
from sinks.outbox.projector import put_vectors
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

log = logging.getLogger(__name__)

PAGE: Final = 1_000

Ranges: TypeAlias = Sequence[tuple[int, int]]  # positions, first and last, in order
Changed: TypeAlias = tuple[
    str, Memory | None, int
]  # id, as it was before a cutover, the version that the cutover made last


class PlannedConversation(Struct, frozen=True):
    """A conversation that is to be replayed, and when its latest message was said."""

    conversation_id: str
    last_said_at: Moment


class ReplayedConversation(Struct, frozen=True, kw_only=True):
    """What came of a conversation: the positions of the messages that were asked about, and how many slices never can be, with
    a reason."""

    planned: PlannedConversation
    ranges: Ranges
    slices: int
    failed: int = 0
    failure: str | None = None


class SwitchedNamespace(Struct, frozen=True, kw_only=True):
    """A namespace of a generation, and the sequences of the changes that its cutover made there; None before it."""

    namespace: str
    first_sequence: int | None = None
    last_sequence: int | None = None


class RemovedMemory(Struct, frozen=True, kw_only=True):
    """What is live no longer: as it was, by which change it went, on whose account, and where what stands in for it is from."""

    before: Memory
    change: Change
    cause: Cause
    successor_sources: tuple[Source, ...] | None = None


class Generations:
    """The `generations` tables. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, generation: Generation, conversations: Sequence[PlannedConversation]) -> None:
        """Records a generation with all that it is to go through, or nothing."""
        ids, moments = (
            [storable(each.conversation_id) for each in conversations],
            [c.last_said_at for c in conversations],
        )
        with translated("beginning a generation"):
            async with self._pool.acquire() as connection, connection.transaction():
                values = (generation.generation_id, generation.plan, generation.created_at)
                await connection.execute(query("generations", "begin"), *values)
                await connection.execute(
                    query("generations", "add_conversations"), generation.generation_id, ids, moments
                )

    async def get(self, generation_id: str) -> Generation | None:
        with translated("reading a generation"):
            row = await self._pool.fetchrow(query("generations", "get"), generation_id)
        return None if row is None else convert(dict(row), Generation)

    async def latest(self, limit: int = 100) -> tuple[Generation, ...]:
        """The youngest first."""
        with translated("reading generations"):
            rows = await self._pool.fetch(query("generations", "latest"), limit)
        return tuple(convert(dict(row), Generation) for row in rows)

    async def progress(self, generation_id: str) -> Progress:
        with translated("counting a generation"):
            row = await self._pool.fetchrow(query("generations", "progress"), generation_id)
        return convert(dict(row or {}), Progress)

    async def conversations(self, plan: Plan, at: datetime) -> AsyncIterator[tuple[PlannedConversation, list[Scope]]]:
        """The archived conversations of a plan's time, as they were at a moment, in no order, each with its scope for everybody
        who speaks in it."""
        with translated("reading what was said"):
            async with self._pool.acquire() as connection, connection.transaction():
                async for row in connection.cursor(query("generations", "said"), plan.since, plan.until, at):
                    fields = dict(row)
                    planned = PlannedConversation(fields["conversation_id"], fields.pop("last_said_at"))
                    user_ids = fields.pop("user_ids") or [None]
                    yield planned, [Scope(**fields, user_id=user_id) for user_id in user_ids]

    async def messages(self, generation: Generation, conversation_id: str) -> tuple[ArchivedMessage, ...]:
        """What of a conversation belongs to the generation, by partition and position."""
        plan = generation.plan
        with translated("reading a conversation"):
            arguments = (conversation_id, plan.since, plan.until, generation.created_at)
            return archived_messages(await self._pool.fetch(query("generations", "messages"), *arguments))

    async def unerased(self, messages: Sequence[ArchivedMessage]) -> Sequence[ArchivedMessage]:
        """Without those that lie behind a fence, by what they feed, their conversation or their user."""
        if not messages:
            return ()
        with translated("asking for fences"):
            async with self._pool.acquire() as connection:
                return await without_erased(connection, messages)

    async def waiting(
        self, generation_id: str, after: PlannedConversation | None, limit: int = PAGE
    ) -> tuple[PlannedConversation, ...]:
        """Conversations that are planned and not done, in order, from behind one on."""
        behind = (after.last_said_at, after.conversation_id) if after else (None, None)
        with translated("reading what is to be replayed"):
            rows = await self._pool.fetch(query("generations", "waiting"), generation_id, *behind, limit)
        return tuple(PlannedConversation(row["conversation_id"], row["last_said_at"]) for row in rows)

    async def done_of(self, generation_id: str, conversation_ids: Collection[str]) -> set[str]:
        """Those of these conversations that are done."""
        with translated("reading what was replayed"):
            ids = list(map(storable, conversation_ids))
            rows = await self._pool.fetch(query("generations", "done_of"), generation_id, ids)
        return {row["conversation_id"] for row in rows}

    async def feeds(self, generation_id: str, namespaces: Collection[str]) -> None:
        """Records namespaces, as they are called outside, before anything is remembered in their shadows."""
        with translated("recording the namespaces of a generation"), required(generation_id):
            names = sorted(map(storable, namespaces))
            await self._pool.execute(query("generations", "feeds"), generation_id, names)

    async def done(self, generation_id: str, replayed: ReplayedConversation, at: datetime) -> None:
        """A conversation is replayed."""
        planned = replayed.planned
        values = (planned.conversation_id, planned.last_said_at, replayed.ranges)
        counts = (replayed.slices, replayed.failed, replayed.failure)
        with translated("recording a replayed conversation"), required(generation_id):
            await self._pool.execute(query("generations", "done"), generation_id, *values, *counts, at)

    @asynccontextmanager
    async def held(self, generation_id: str) -> AsyncIterator[None]:
        """Keeps others from replaying or discarding the generation. Raises Misconfigured while somebody does that."""
        async with self._pool.acquire() as connection:
            with translated("claiming a generation"):
                if not await connection.fetchval(query("generations", "hold"), generation_id):
                    raise Misconfigured(
                        f"generation {generation_id} is replayed or discarded by somebody else: wait for them"
                    )
            try:
                yield
            finally:
                await release(connection, generation_id)

    async def ready(self, generation_id: str, at: datetime) -> None:
        """All of it is replayed. Raises Misconfigured where somebody else ended it, or discarded it."""
        with translated("recording a generation"):
            if not await self._pool.fetchval(query("generations", "ready"), generation_id, at):
                raise Misconfigured(
                    f"generation {generation_id} is not being built any more: somebody else had to do with it"
                )


@contextmanager
def required(generation_id: str) -> Iterator[None]:
    """Raises Misconfigured where the generation, of which something is recorded, was discarded."""
    try:
        yield
    except asyncpg.ForeignKeyViolationError as exc:
        raise Misconfigured(f"generation {generation_id} was discarded while it was replayed") from exc


async def release(connection: Connection, generation_id: str) -> None:
    """Fails what was done under it by nothing: where the session is lost, so is its lock."""
    try:
        with translated("letting go of a generation"):
            await connection.execute(query("generations", "let_go"), generation_id)
    except (Retryable, asyncpg.InterfaceError) as exc:
        log.warning("generation %s is let go by ending the session: %s", generation_id, exc)
        with suppress(asyncpg.InterfaceError):  # the pool has taken a lost connection back already
            connection.terminate()


class Shadows:
    """A generation beside what is live; `reader` is the pool, or the connection of a transaction."""

    def __init__(self, reader: Reader, generation_id: str) -> None:
        self._reader = reader
        self._id = generation_id

    async def namespaces(self, beyond: str = "", limit: int = PAGE) -> tuple[SwitchedNamespace, ...]:
        """The namespaces that the generation feeds, by name, from behind one on."""
        with translated("reading the namespaces of a generation"):
            rows = await self._reader.fetch(query("generations", "namespaces"), self._id, beyond, limit)
        return tuple(convert(dict(row), SwitchedNamespace) for row in rows)

    async def any_switched(self) -> bool:
        """Whether what a cutover changed stands anywhere."""
        with translated("reading the namespaces of a generation"):
            return bool(await self._reader.fetchval(query("generations", "any_switched"), self._id))

    async def switched_in_part(self) -> bool:
        """Whether some of its namespaces are switched and others are not."""
        with translated("reading the namespaces of a generation"):
            return bool(await self._reader.fetchval(query("generations", "switched_in_part"), self._id))

    async def ranges(self, conversation_ids: Collection[str]) -> dict[str, Ranges]:
        """The positions that were replayed, by conversation."""
        with translated("reading what was replayed"):
            rows = await self._reader.fetch(query("generations", "ranges"), self._id, list(conversation_ids))
        return {row["conversation_id"]: [(first, last) for first, last in row["ranges"]] for row in rows}

    async def by_hand(self, memory_ids: Collection[str]) -> set[str]:
        """Those of these memories that a command made or changed."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("generations", "by_hand"), list(memory_ids))
        return {row["memory_id"] for row in rows}

    async def removed(self, namespace: str, limit: int | None = None) -> tuple[RemovedMemory, ...]:
        """What is live no longer in a namespace, or some of it."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("generations", "gone"), namespace, limit)
        return tuple(convert(dict(row), RemovedMemory) for row in rows)

    async def changed(self, switched: SwitchedNamespace) -> tuple[Changed, ...]:
        """The memories that the cutover changed in a namespace."""
        arguments = (switched.namespace, switched.first_sequence, switched.last_sequence)
        with translated("reading versions"):
            rows = await self._reader.fetch(query("generations", "changed_between"), *arguments)
        return tuple(
            (row["memory_id"], None if row["before"] is None else convert(row["before"], Memory), row["version"])
            for row in rows
        )


async def lock(connection: Connection, generation_id: str) -> Generation | None:
    """The generation, of which nobody else changes the status in this transaction."""
    row = await connection.fetchrow(query("generations", "lock"), generation_id)
    return None if row is None else convert(dict(row), Generation)


async def set_status(connection: Connection, generation_id: str, status: GenerationStatus, at: datetime) -> None:
    await connection.execute(query("generations", "become"), generation_id, status, at)


async def record_switch(connection: Connection, generation_id: str, switched: SwitchedNamespace) -> None:
    """Which changes a cutover made in a namespace; None once they are taken back."""
    sequences = (switched.first_sequence, switched.last_sequence)
    await connection.execute(query("generations", "switched"), generation_id, switched.namespace, *sequences)


async def drop_shadow(connection: Connection, shadow: str) -> None:
    """Removes all that is remembered in a shadow, with the answers that it came from, in a transaction that holds its lock."""
    await connection.execute(query("generations", "drop_versions"), shadow)
    rows = await connection.fetch(query("generations", "drop_memories"), shadow)
    await put_vectors(connection, shadow, [row["memory_id"] for row in rows])
    await connection.execute(query("purges", "drop_forgotten"), shadow)
    await connection.execute(query("hidden_messages", "drop_namespace"), shadow)
    await connection.execute(query("generations", "drop_answers"), [shadow])
    await connection.execute(query("generations", "drop_namespace"), shadow)


async def drop(connection: Connection, generation_id: str) -> None:
    await connection.execute(query("generations", "drop"), generation_id)


async def shadows_of(connection: Connection, namespace: str) -> tuple[str, ...]:
    """What stands for a namespace in each generation, whether anything is remembered there or not."""
    rows = await connection.fetch(query("generations", "shadows_of"), namespace)
    return tuple(row["namespace"] for row in rows)
