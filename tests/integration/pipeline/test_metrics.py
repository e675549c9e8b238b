"""Metrics of a running worker after an extracted conversation and a dead-lettered event."""

from datetime import UTC, datetime
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from agents.budgets.budget_guard import OVERALL
from agents.consolidation.requests import manual_run
from deploy.embedded.ports import free_port
from deploy.metrics.meters import Meters
from deploy.metrics.sampling import sample
from deploy.settings import Settings
from deploy.wiring import budgets, connections
from schemas.consolidation.runs import RunRequest
from schemas.kafka import topics
from sinks.consolidation.runs import Runs
from streams.kafka.topics import STAGES
from tests.deployment import Event, eventually
from tests.integration.conftest import Deploy

AT = {"timestamp": "2026-03-01T10:00:00Z"}
MESSAGE = {"message_id": "c-1", "role": "user", "content": "I am allergic to peanuts.", "app_id": "a", "user_id": "u"}


class Scraped:
    """One scrape, summed over labels that are not asked for."""

    def __init__(self, text: str) -> None:
        families = text_string_to_metric_families(text)
        self._samples = [sample for family in families for sample in family.samples]

    def __call__(self, name: str, **labels: str) -> float:
        return sum(
            each.value
            for each in self._samples
            if each.name == f"memstream_{name}" and labels.items() <= each.labels.items()
        )


async def test_a_worker_exposes_metrics_of_its_work_its_lag_and_its_readiness(deploy: Deploy, tmp_path: Path):
    deployment = await deploy("metrics", metrics_port=(port := free_port()), budget={"tokens_per_day": 1_000})
    worker = await deployment.worker()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        assert (await client.get("/health/ready")).json() == {"status": "ok"}
        await deployment.publish(
            Event(topics.MESSAGES, "c", {"conversation_id": "c"} | MESSAGE | AT),
            Event(topics.MESSAGES, "c", b"no JSON"),
            Event(topics.ENDED, "c", {"conversation_id": "c", "message_count": 1} | AT),
        )
        await deployment.settled()
        windows = deployment.group("windows")

        async def counted_metrics() -> Scraped | None:
            scraped = Scraped((await client.get("/metrics")).text)
            indexed = scraped("passages_indexed_total") == 1 and scraped("delivery_records_total", group=windows) >= 3
            return scraped if indexed and scraped("consumer_lag_messages") == 0 else None

        metrics = await eventually(counted_metrics, "nothing is behind, and everything is counted")
    assert metrics("stage_ready") == len(STAGES)
    assert metrics("memory_changes_total", change="created") == 1
    assert metrics("proposals_total", provider="offline") == 1
    assert metrics("model_request_duration_seconds_count", operation="extract", outcome="answered") == 1
    assert metrics("dead_letters_total", stage="windows") == 1
    assert metrics("consumer_lag_seconds") == 0
    assert metrics("passage_embedding_seconds_total") > 0

    async def ended() -> bool:
        return await deployment.count("windows WHERE phase = 'ended'") == 1

    await eventually(ended, "the window's row says that it has ended")
    assert await worker.stop() == 0
    await assert_standing(deployment.settings)


async def assert_standing(settings: Settings) -> None:
    """Checks the metrics that are read periodically from PostgreSQL."""
    meters = Meters()
    async with connections.postgres(settings, max_size=1) as pool:
        await Runs(pool).add(manual_run(RunRequest(), (), "ada", datetime.now(UTC)))
        await pool.execute("INSERT INTO consolidation_schedules VALUES ('p', '{}', now() - interval '1 hour')")
        await pool.execute("ANALYZE passages")
        await pool.execute("INSERT INTO passage_removals VALUES (gen_random_uuid(), now() - interval '2 minutes')")
        await sample(meters, pool, budgets.overall(settings))
    value = meters.registry.get_sample_value
    assert value("memstream_memories_all") == 1
    assert value("memstream_namespaces_all", {"memories": "some"}) == 1
    assert value("memstream_passages_all") == 1
    assert value("memstream_passage_bytes_all") > 0
    assert 120 <= value("memstream_passage_removals_oldest_age_seconds_all") < 180
    assert value("memstream_outbox_rows_all") == 0
    assert value("memstream_outbox_oldest_age_seconds_all") == 0
    assert value("memstream_windows_all", {"phase": "ended"}) == 1
    assert value("memstream_consolidation_runs_all", {"status": "pending"}) == 1
    assert value("memstream_consolidation_runs_all", {"status": "failed"}) == 0
    assert 3_600 <= value("memstream_consolidation_overdue_seconds_all") < 3_700
    assert value("memstream_budget_left_ratio_all", {"limit": "tokens_per_day"}) == 1
    async with connections.postgres(settings, max_size=1) as pool:
        await pool.execute(
            """INSERT INTO outbox (namespace, target, topic, created_at)
               VALUES ('a/u', 'kafka', 'memory.events', now() - interval '2 minutes'), ('a/u', 'vector', NULL, now())"""
        )
        await pool.execute("INSERT INTO energy (scope) VALUES ($1) ON CONFLICT DO NOTHING", OVERALL)
        await pool.execute(
            "INSERT INTO energy_reservations VALUES ($1, 'r', 250, 0, now() + interval '1 hour')", OVERALL
        )
        await sample(meters, pool, budgets.overall(settings))
    assert value("memstream_outbox_rows_all") == 2
    assert 120 <= value("memstream_outbox_oldest_age_seconds_all") < 180
    assert value("memstream_budget_left_ratio_all", {"limit": "tokens_per_day"}) == 0.75
