"""The progress of a backfill, so that it resumes after an interruption."""

from typing import NamedTuple

from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class ConversationCounts(NamedTuple):
    """The numbers of conversations in the archive and of those that the backfill has not reached."""

    conversations: int
    ahead: int


class BackfillProgress:
    """The table `passage_backfill`. A backfill takes conversations in the order of their ids. `policies` identifies the
    policies of the run: under other ones it begins again. Every method raises Retryable."""

    def __init__(self, pool: Pool, policies: str) -> None:
        self._pool = pool
        self._policies = policies

    async def place(self) -> str:
        """The last finished conversation; empty if no backfill of these policies was interrupted."""
        with translated("reading backfill progress"):
            return await self._pool.fetchval(query("passages", "backfill"), self._policies) or ""

    async def conversations(self, after: str, limit: int) -> list[str]:
        with translated("listing conversations"):
            rows = await self._pool.fetch(query("passages", "conversations"), after, limit)
        return [row["conversation_id"] for row in rows]

    async def counts(self, after: str) -> ConversationCounts:
        with translated("counting conversations"):
            row = await self._pool.fetchrow(query("passages", "count_conversations"), after)
        assert row is not None, "counts are one row"
        return ConversationCounts(**row)

    async def advance(self, place: str) -> None:
        with translated("storing backfill progress"):
            await self._pool.execute(query("passages", "advance_backfill"), place, self._policies)

    async def end(self) -> None:
        with translated("ending a backfill"):
            await self._pool.execute(query("passages", "end_backfill"))
