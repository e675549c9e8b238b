"""Consolidation runs as those know them who ask for one, list them, and read what a dry run found."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from schemas.codec import convert
from schemas.consolidation.runs import ConsolidationRun, Finding, RunStatus, Scheduled
from sinks.access.audit import Audit, Audited
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

RunPlace: TypeAlias = tuple[datetime, str]  # when a run was made, and its id: in the order of runs


class RunFilter(Struct, frozen=True, kw_only=True):
    """Which runs a list is of: about a namespace, of a policy, in a status; behind a place; so many."""

    limit: int
    namespace: str | None = None
    policy: str | None = None
    status: RunStatus | None = None
    behind: RunPlace | None = None


class Runs:
    """The tables `consolidation_runs` and `consolidation_findings`. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, run: ConsolidationRun, most_pending: int | None = None, audited: Audited | None = None) -> bool:
        """Makes it known, `audited` with it; whoever schedules begins it. One that is known already changes nothing. False, and
        nothing is changed, where `most_pending` that the same one asked for by hand have not begun."""
        with translated("asking for a consolidation run"):
            async with self._pool.acquire() as connection, connection.transaction():
                if most_pending is not None:
                    await connection.execute(query("runs", "lock_asker"), run.asked_by)
                    if await connection.fetchval(query("runs", "count_pending"), run.asked_by) >= most_pending:
                        return False
                if await add(connection, run) and audited is not None:
                    await Audit(connection).record(audited)
                return True

    async def of(self, run_id: str) -> ConsolidationRun | None:
        """A run as it stands now; None if there is none of that id."""
        with translated("reading a consolidation run"):
            row = await self._pool.fetchrow(query("runs", "of"), run_id)
        return run_of(row) if row else None

    async def page(self, asked: RunFilter) -> tuple[ConsolidationRun, ...]:
        """Runs as asked, the newest first."""
        place = asked.behind or (None, None)
        with translated("listing consolidation runs"):
            rows = await self._pool.fetch(
                query("runs", "page"), asked.namespace, asked.policy, asked.status, *place, asked.limit
            )
        return runs_of(rows)

    async def schedules(self) -> tuple[Scheduled, ...]:
        """When each policy with a schedule has its next run, the soonest first."""
        with translated("reading schedules"):
            rows = await self._pool.fetch(query("runs", "schedules"))
        return tuple(convert(dict(row), Scheduled) for row in rows)

    async def findings(
        self, run_id: str, *, after: int = 0, limit: int = 100, namespace: str | None = None
    ) -> tuple[Finding, ...]:
        """What a dry run found, in its order, behind the finding of that number."""
        with translated("reading what a dry run found"):
            rows = await self._pool.fetch(query("runs", "findings"), run_id, after, namespace, limit)
        return tuple(convert(dict(row), Finding) for row in rows)


async def add(connection: Connection, run: ConsolidationRun) -> bool:
    """Within a transaction; whether it was not known before."""
    return await connection.fetchval(query("runs", "add"), *columns(run)) is not None


def run_of(row: Any) -> ConsolidationRun:
    return convert(dict(row), ConsolidationRun)


def runs_of(rows: Iterable[Any]) -> tuple[ConsolidationRun, ...]:
    return tuple(run_of(row) for row in rows)


def columns(run: ConsolidationRun) -> tuple[Any, ...]:
    """In the statement's order."""
    return (
        *(run.run_id, run.trigger, run.dry_run, run.lane, run.policy, run.namespace, run.conversation_id),
        *([storable(name) for name in run.namespaces], run.most, run.asked_by, run.due_at, run.missed, run.created_at),
    )
