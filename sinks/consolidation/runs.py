"""Consolidation runs as clients see them: create, list, and read the findings of dry runs."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from schemas.codec import convert
from schemas.consolidation.runs import ConsolidationRun, Finding, RunStatus, Scheduled
from sinks.access.audit import Audit, Audited
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

RunPlace: TypeAlias = tuple[datetime, str]  # time of creation and id: the sort key of runs


class RunFilter(Struct, frozen=True, kw_only=True):
    """A page of runs: of a namespace, a policy and a status, behind a place, at most `limit`."""

    limit: int
    namespace: str | None = None
    policy: str | None = None
    status: RunStatus | None = None
    behind: RunPlace | None = None


class Runs:
    """The tables `consolidation_runs` and `consolidation_findings`. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, run: ConsolidationRun, max_pending: int | None = None, audited: Audited | None = None) -> bool:
        """Stores a run for the scheduler to begin, and its audit entry `audited`. A known id changes nothing. Returns False,
        and stores nothing, if `max_pending` manual runs of the same actor have not begun."""
        with translated("storing a consolidation run"):
            async with self._pool.acquire() as connection, connection.transaction():
                if max_pending is not None:
                    await connection.execute(query("runs", "lock_requester"), run.asked_by)
                    if await connection.fetchval(query("runs", "count_pending"), run.asked_by) >= max_pending:
                        return False
                if await add(connection, run) and audited is not None:
                    await Audit(connection).record(audited)
                return True

    async def of(self, run_id: str) -> ConsolidationRun | None:
        """The run with its current counts; None for an unknown id."""
        with translated("reading a consolidation run"):
            row = await self._pool.fetchrow(query("runs", "of"), run_id)
        return run_of(row) if row else None

    async def page(self, run_filter: RunFilter) -> tuple[ConsolidationRun, ...]:
        """The page of runs, newest first."""
        place = run_filter.behind or (None, None)
        with translated("listing consolidation runs"):
            rows = await self._pool.fetch(
                query("runs", "page"),
                run_filter.namespace,
                run_filter.policy,
                run_filter.status,
                *place,
                run_filter.limit,
            )
        return runs_of(rows)

    async def schedules(self) -> tuple[Scheduled, ...]:
        """The next run of each policy with a schedule, soonest first."""
        with translated("reading schedules"):
            rows = await self._pool.fetch(query("runs", "schedules"))
        return tuple(convert(dict(row), Scheduled) for row in rows)

    async def last_scheduled(self, policies: Collection[str]) -> dict[str, ConsolidationRun]:
        """By policy, the latest run that its schedule began, if there was one."""
        with translated("reading the latest scheduled runs"):
            rows = await self._pool.fetch(query("runs", "last_scheduled"), list(map(storable, policies)))
        return {row["policy"]: run_of(row) for row in rows}

    async def findings(
        self, run_id: str, *, after: int = 0, limit: int = 100, namespace: str | None = None
    ) -> tuple[Finding, ...]:
        """The findings of a dry run behind the finding with number `after`, in order."""
        with translated("reading findings of a dry run"):
            rows = await self._pool.fetch(query("runs", "findings"), run_id, after, namespace, limit)
        return tuple(convert(dict(row), Finding) for row in rows)


async def add(connection: Connection, run: ConsolidationRun) -> bool:
    """Stores a run within a transaction; False if its id is known."""
    return await connection.fetchval(query("runs", "add"), *columns(run)) is not None


def run_of(row: Any) -> ConsolidationRun:
    return convert(dict(row), ConsolidationRun)


def runs_of(rows: Iterable[Any]) -> tuple[ConsolidationRun, ...]:
    return tuple(run_of(row) for row in rows)


def columns(run: ConsolidationRun) -> tuple[Any, ...]:
    """The column values in the order of the statement."""
    return (
        *(run.run_id, run.trigger, run.dry_run, run.lane, run.policy, run.namespace, run.conversation_id),
        *([storable(name) for name in run.namespaces], run.most, run.asked_by, run.due_at, run.missed, run.created_at),
    )
