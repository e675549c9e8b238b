"""Consolidation runs and sweeps of the archive, in memory."""

from collections.abc import Collection

from schemas.consolidation.retention import Sweep
from schemas.consolidation.runs import ConsolidationRun, Finding, Scheduled
from sinks.access.audit import Audited
from sinks.archive.retention import SweepPlace
from sinks.consolidation.runs import RunFilter


class FakeRuns:
    """Runs by id, and the findings of dry runs."""

    def __init__(self) -> None:
        self.by_id: dict[str, ConsolidationRun] = {}
        self.found: dict[str, list[Finding]] = {}
        self.scheduled: list[Scheduled] = []
        self.audited: list[Audited] = []

    def put(self, run: ConsolidationRun) -> None:
        """Stores a run, replacing one with its id."""
        self.by_id[run.run_id] = run

    async def add(self, run: ConsolidationRun, max_pending: int | None = None, audited: Audited | None = None) -> bool:
        waiting = [each for each in self.by_id.values() if (each.status, each.trigger) == ("pending", "hand")]
        if max_pending is not None and sum(each.asked_by == run.asked_by for each in waiting) >= max_pending:
            return False
        if run.run_id not in self.by_id and audited is not None:
            self.audited.append(audited)
        self.by_id.setdefault(run.run_id, run)
        return True

    async def of(self, run_id: str) -> ConsolidationRun | None:
        return self.by_id.get(run_id)

    async def page(self, run_filter: RunFilter) -> tuple[ConsolidationRun, ...]:
        newest = sorted(self.by_id.values(), key=place, reverse=True)
        wanted = [run for run in newest if is_asked_for(run, run_filter)]
        return tuple(wanted[: run_filter.limit])

    async def schedules(self) -> tuple[Scheduled, ...]:
        return tuple(sorted(self.scheduled, key=lambda each: (each.next_due, each.policy)))

    async def last_scheduled(self, policies: Collection[str]) -> dict[str, ConsolidationRun]:
        begun = [run for run in self.by_id.values() if run.trigger == "schedule" and run.policy in policies]
        return {str(run.policy): run for run in sorted(begun, key=lambda run: run.due_at)}

    async def findings(
        self, run_id: str, *, after: int = 0, limit: int = 100, namespace: str | None = None
    ) -> tuple[Finding, ...]:
        found = [each for each in self.found.get(run_id, []) if each.number > after]
        return tuple(each for each in found if namespace is None or each.namespace == namespace)[:limit]


def place(run: ConsolidationRun) -> tuple[object, str]:
    return run.created_at, run.run_id


def is_asked_for(run: ConsolidationRun, run_filter: RunFilter) -> bool:
    if run_filter.behind is not None and (run.created_at, run.run_id) >= run_filter.behind:
        return False
    if run_filter.namespace is not None and run_filter.namespace not in run.namespaces:
        return False
    return (run_filter.policy or run.policy) == run.policy and (run_filter.status or run.status) == run.status


class FakeSweeps:
    """Sweeps by id."""

    def __init__(self) -> None:
        self.by_id: dict[str, Sweep] = {}

    async def add(self, sweep: Sweep) -> None:
        self.by_id.setdefault(sweep.sweep_id, sweep)

    async def of(self, sweep_id: str) -> Sweep | None:
        return self.by_id.get(sweep_id)

    async def page(self, limit: int, behind: SweepPlace | None = None) -> tuple[Sweep, ...]:
        newest = sorted(self.by_id.values(), key=lambda sweep: (sweep.created_at, sweep.sweep_id), reverse=True)
        return tuple(each for each in newest if behind is None or (each.created_at, each.sweep_id) < behind)[:limit]
