"""Consolidation runs of several schedulers on one database, with a clock that the test sets."""

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from agents.consolidation.requests import manual_run
from agents.consolidation.scheduler import Scheduler
from schemas.codec import decode
from schemas.consolidation.runs import ConsolidationRun, RunRequest
from schemas.kafka import topics
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.policies.triggers import Schedule, Triggers
from schemas.windows.window_controls import WindowControl
from sinks.archive.messages import Archive
from sinks.consolidation.runs import RunFilter, Runs
from sinks.postgres.connection import Pool
from sinks.postgres.leaders import Leadership
from sinks.windows.projection import Windows
from tests.builders.archived_messages import archived_message
from tests.fakes.sinks import FakePublisher
from tests.fakes.windows import a_state

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NIGHT = datetime(2026, 3, 3, 2, tzinfo=UTC)
NIGHTLY = Policy(name="nightly", match=Match(app_id="app"), triggers=Triggers(schedule=Schedule(at="02:00")))
SILENT = Policy(name="silent", match=Match(app_id="silent"), extract=False)


class ScheduledRuns:
    """Creates schedulers and archived conversations, and reads the runs and their requests."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.now = NOON
        self.policies = Policies((NIGHTLY, SILENT))
        self.published = FakePublisher()
        self.runs = Runs(pool)

    def worker(self, name: str, lease_s: float = 60.0, silent_s: float = 60.0) -> Scheduler:
        class Governing:
            now = property(lambda _: self.policies)

        leading = Leadership(self.pool, "scheduler", name, lease_s, silent_s)
        return Scheduler(leading, Governing(), self.published, lambda: self.now)

    async def said(
        self, conversation: str, positions: range, partition: int = 3, app: str = "app", **state: Any
    ) -> None:
        """Stores messages in the archive, and their projected window."""
        await Archive(self.pool).store(
            [
                archived_message(conversation, at, partition=partition, timestamp=NOON, app_id=app, user_id="ada")
                for at in positions
            ]
        )
        scope = replace(a_state(conversation).scope, app_id=app, user_id="ada")
        await Windows(self.pool).project([a_state(conversation, scope=scope, partition=partition, **state)])

    async def extracted(
        self,
        conversation: str,
        first: int,
        last: int,
        results: tuple[str, ...] = (),
        *,
        failed: bool = False,
        **used: int,
    ) -> str:
        """Stores an answered slice whose candidates had these results."""
        request = f"{conversation}/{first}-{last}"
        await self.pool.execute(
            "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
            " policy_version, namespaces, provider, model, completed_at, failed_at, failed_reason)"
            " VALUES ($1, $2, 3, $3, $4, 'nightly', 1, '{app/ada}', 'claude', 'haiku', $5, $6, $7)",
            *(request, conversation, first, last, None if failed else self.now, self.now if failed else None),
            "refused: no" if failed else None,
        )
        outcome = {"rulings": [{"candidate_id": str(n), "result": result} for n, result in enumerate(results)]}
        await self.pool.execute(
            "INSERT INTO extraction_parts (request_id, part, namespace, outcome) VALUES ($1, 1, 'app/ada', $2)",
            *(request, outcome),
        )
        await self.pool.execute(
            "INSERT INTO model_usage (usage_id, at, operation, lane, outcome, provider, model, calls, input_tokens,"
            " output_tokens, cache_read_tokens, cache_write_tokens, cost_micros, batched, namespaces, request_id)"
            " VALUES ($1, $2, 'extract', 'background', 'answered', 'claude', 'haiku', 1, $3, 10, 0, 0, $4, false, '{}', $1)",
            *(request, self.now, used.get("tokens", 100), used.get("cost", 7)),
        )
        return request

    def requested(self) -> list[tuple[str, int | None, str | None]]:
        controls = [
            (record, decode(record.value or b"", WindowControl)) for record in self.published.on(topics.WINDOW_CONTROL)
        ]
        assert {control.kind for _, control in controls} <= {"flush"}
        return [(control.conversation_id, record.partition, control.lane) for record, control in controls]

    async def all(self) -> tuple[ConsolidationRun, ...]:
        """Oldest first."""
        return (await self.runs.page(RunFilter(limit=100)))[::-1]

    async def by_hand(self, **wanted: Any) -> str:
        run = manual_run(RunRequest(**wanted), (), "ada", self.now)
        await self.runs.add(run)
        return run.run_id

    async def run(self, run_id: str) -> ConsolidationRun:
        found = await self.runs.of(run_id)
        assert found is not None
        return found
