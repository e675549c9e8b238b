"""Dry runs as their worker sees them: claimed under a lease, processed one conversation at a time, findings stored."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from schemas.consolidation.runs import ConsolidationRun, Counts, Finding
from schemas.conversations.messages import Scope
from sinks.archive.messages import ArchivedMessage, archived_messages
from sinks.consolidation import runs
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

MESSAGES: Final = 1_000  # enough for several slices
BYTES: Final = 16 * 1024 * 1024


class ConversationRange(NamedTuple):
    """The part of a conversation that a run covers: positions `first` to `last` of a partition."""

    scope: Scope
    partition: int
    first: int
    last: int


class DryRuns:
    """The dry runs among consolidation runs. Reads at most `messages` at a time. Every method raises Retryable.

    Claims and renewals use the pool `leases`, if given, as in Extractions.
    """

    def __init__(self, pool: Pool, leases: Pool | None = None, messages: int = MESSAGES) -> None:
        self._pool = pool
        self._leases = leases or pool
        self._messages = messages

    async def claim(self, owner: str, lease_s: float) -> ConsolidationRun | None:
        """Claims the oldest unfinished dry run that no worker holds; None if there is none."""
        with translated("claiming a dry run"):
            row = await self._leases.fetchrow(query("runs", "claim_dry"), owner, lease_s)
        return runs.run_of(row) if row else None

    async def renew(self, run_id: str, owner: str, lease_s: float) -> bool:
        with translated("renewing a lease"):
            return await self._leases.fetchval(query("runs", "renew_dry"), run_id, owner, lease_s) is not None

    async def release(self, run_id: str, owner: str) -> None:
        with translated("releasing a lease"):
            await self._pool.execute(query("runs", "release_dry"), run_id, owner)

    async def next(self, run_id: str) -> ConversationRange | None:
        """The next conversation that is not done; None at the end."""
        with translated("reading a dry run"):
            row = await self._pool.fetchrow(query("runs", "next_dry"), run_id)
        if row is None:
            return None
        columns = dict(row)
        place = [columns.pop(name) for name in ("partition", "first_position", "last_position")]
        return ConversationRange(Scope(**columns), *place)

    async def waiting(self, message_range: ConversationRange) -> tuple[ArchivedMessage, ...]:
        """The first unextracted messages of the range, in order, as many as are read at a time."""
        place = (message_range.scope.conversation_id, message_range.partition, message_range.first, message_range.last)
        with translated("reading waiting messages"):
            return archived_messages(await self._pool.fetch(query("runs", "waiting"), *place, self._messages, BYTES))

    async def store(
        self,
        run_id: str,
        message_range: ConversationRange,
        findings: Sequence[Finding],
        counts: Counts,
        request_ids: Sequence[str],
        at: datetime,
    ) -> None:
        """Stores the findings of a conversation and marks it as done, in one transaction. Does nothing if another worker has
        done it, and leaves out findings of erased namespaces."""
        place = (run_id, message_range.scope.conversation_id, message_range.partition)
        with translated("storing findings of a dry run"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "share_archive"))
                counted = (*numbers(counts), list(request_ids))
                if await connection.fetchval(query("runs", "done_dry"), *place, at, *counted) is None:
                    return
                await connection.executemany(
                    query("runs", "add_finding"), [(run_id, *columns(finding)) for finding in findings]
                )
                await connection.execute(query("runs", "add_up"), [run_id])

    async def finish(self, run_id: str, at: datetime) -> None:
        with translated("ending a dry run"):
            await self._pool.execute(query("runs", "finish"), [run_id], at)

    async def fail(self, run_id: str, at: datetime, error: str) -> None:
        with translated("ending a dry run"):
            await self._pool.execute(query("runs", "fail"), run_id, at, error)


def columns(finding: Finding) -> tuple[object, ...]:
    return (
        *(finding.namespace, finding.conversation_id, finding.result, finding.kind, finding.text, finding.memory_id),
        *(finding.reason, list(map(storable, finding.message_ids))),
    )


def numbers(counts: Counts) -> tuple[object, ...]:
    return (
        *(counts.requests, counts.failed_requests, counts.created, counts.reinforced, counts.merged),
        *(counts.superseded, counts.dropped, list(counts.providers), list(counts.models)),
    )
