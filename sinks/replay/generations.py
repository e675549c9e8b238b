"""Generations: their plans, the progress of each conversation, and the namespaces that they feed."""

import logging
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime
from typing import Final

import asyncpg
from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment, Scope
from schemas.errors import Misconfigured, Retryable
from schemas.replay.generations import Generation, GenerationStatus, Plan, Progress
from sinks.archive.messages import ArchivedMessage, archived_messages, without_erased
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query
from sinks.replay.shadows import Ranges

log = logging.getLogger(__name__)

PAGE: Final = 1_000


class PlannedConversation(Struct, frozen=True):
    """A conversation to be replayed, and the time of its latest message."""

    conversation_id: str
    last_said_at: Moment


class ReplayedConversation(Struct, frozen=True, kw_only=True):
    """The result of replaying a conversation: the positions of the messages asked about, and the number of failed slices
    with a reason."""

    planned: PlannedConversation
    ranges: Ranges
    slices: int
    failed: int = 0
    failure: str | None = None


class Generations:
    """The `generations` tables. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, generation: Generation, conversations: Sequence[PlannedConversation]) -> None:
        """Stores a generation with all its conversations, in one transaction."""
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
        """The latest generations, newest first."""
        with translated("reading generations"):
            rows = await self._pool.fetch(query("generations", "latest"), limit)
        return tuple(convert(dict(row), Generation) for row in rows)

    async def progress(self, generation_id: str) -> Progress:
        with translated("counting a generation"):
            row = await self._pool.fetchrow(query("generations", "progress"), generation_id)
        return convert(dict(row or {}), Progress)

    async def conversations(self, plan: Plan, at: datetime) -> AsyncIterator[tuple[PlannedConversation, list[Scope]]]:
        """The archived conversations in a plan's time range as of a moment, unordered, with the scope of each speaker."""
        with translated("reading archived conversations"):
            async with self._pool.acquire() as connection, connection.transaction():
                async for row in connection.cursor(query("generations", "said"), plan.since, plan.until, at):
                    fields = dict(row)
                    planned = PlannedConversation(fields["conversation_id"], fields.pop("last_said_at"))
                    user_ids = fields.pop("user_ids") or [None]
                    yield planned, [Scope(**fields, user_id=user_id) for user_id in user_ids]

    async def messages(self, generation: Generation, conversation_id: str) -> tuple[ArchivedMessage, ...]:
        """The messages of a conversation that belong to the generation, by partition and position."""
        plan = generation.plan
        with translated("reading messages of a conversation"):
            arguments = (conversation_id, plan.since, plan.until, generation.created_at)
            return archived_messages(await self._pool.fetch(query("generations", "messages"), *arguments))

    async def unerased(self, messages: Sequence[ArchivedMessage]) -> Sequence[ArchivedMessage]:
        """Leaves out messages behind a fence of their namespaces, conversation or user."""
        if not messages:
            return ()
        with translated("reading fences"):
            async with self._pool.acquire() as connection:
                return await without_erased(connection, messages)

    async def waiting(
        self, generation_id: str, after: PlannedConversation | None, limit: int = PAGE
    ) -> tuple[PlannedConversation, ...]:
        """Planned conversations that are not done, in order, behind `after`."""
        behind = (after.last_said_at, after.conversation_id) if after else (None, None)
        with translated("reading planned conversations"):
            rows = await self._pool.fetch(query("generations", "waiting"), generation_id, *behind, limit)
        return tuple(PlannedConversation(row["conversation_id"], row["last_said_at"]) for row in rows)

    async def done_of(self, generation_id: str, conversation_ids: Collection[str]) -> set[str]:
        """Those of these conversations that are done."""
        with translated("reading replayed positions"):
            ids = list(map(storable, conversation_ids))
            rows = await self._pool.fetch(query("generations", "done_of"), generation_id, ids)
        return {row["conversation_id"] for row in rows}

    async def feeds(self, generation_id: str, namespaces: Collection[str]) -> None:
        """Stores the live names of namespaces before anything is written to their shadows."""
        with translated("recording the namespaces of a generation"), required(generation_id):
            names = sorted(map(storable, namespaces))
            await self._pool.execute(query("generations", "feeds"), generation_id, names)

    async def done(self, generation_id: str, replayed: ReplayedConversation, at: datetime) -> None:
        """Marks a conversation as replayed."""
        planned = replayed.planned
        values = (planned.conversation_id, planned.last_said_at, replayed.ranges)
        counts = (replayed.slices, replayed.failed, replayed.failure)
        with translated("recording a replayed conversation"), required(generation_id):
            await self._pool.execute(query("generations", "done"), generation_id, *values, *counts, at)

    @asynccontextmanager
    async def held(self, generation_id: str) -> AsyncIterator[None]:
        """Holds the generation's lock against other replays and discards. Raises Misconfigured if another process holds it."""
        async with self._pool.acquire() as connection:
            with translated("locking a generation"):
                if not await connection.fetchval(query("generations", "hold"), generation_id):
                    raise Misconfigured(
                        f"generation {generation_id} is being replayed or discarded by another process: wait until that has ended"
                    )
            try:
                yield
            finally:
                await release(connection, generation_id)

    async def ready(self, generation_id: str, at: datetime) -> None:
        """Marks the generation as fully replayed. Raises Misconfigured if another process has ended or discarded it."""
        with translated("recording a generation"):
            if not await self._pool.fetchval(query("generations", "ready"), generation_id, at):
                raise Misconfigured(
                    f"generation {generation_id} is no longer being built: another process switched or discarded it"
                )


@contextmanager
def required(generation_id: str) -> Iterator[None]:
    """Raises Misconfigured if the generation was discarded while it was being written."""
    try:
        yield
    except asyncpg.ForeignKeyViolationError as exc:
        raise Misconfigured(f"generation {generation_id} was discarded while it was replayed") from exc


async def release(connection: Connection, generation_id: str) -> None:
    """Releases the lock. Never raises: a lost session has lost its lock."""
    try:
        with translated("unlocking a generation"):
            await connection.execute(query("generations", "let_go"), generation_id)
    except (Retryable, asyncpg.InterfaceError) as exc:
        log.warning("unlocking generation %s failed, closing the connection instead: %s", generation_id, exc)
        with suppress(asyncpg.InterfaceError):  # a lost connection is back in the pool already
            connection.terminate()


async def lock(connection: Connection, generation_id: str) -> Generation | None:
    """The generation, locked against status changes for the rest of the transaction."""
    row = await connection.fetchrow(query("generations", "lock"), generation_id)
    return None if row is None else convert(dict(row), Generation)


async def set_status(connection: Connection, generation_id: str, status: GenerationStatus, at: datetime) -> None:
    await connection.execute(query("generations", "become"), generation_id, status, at)


async def drop(connection: Connection, generation_id: str) -> None:
    await connection.execute(query("generations", "drop"), generation_id)
