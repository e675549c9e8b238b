"""The state of providers and running calls in PostgreSQL."""

from sinks.metrics.pipeline_state import PipelineState
from sinks.postgres.connection import Pool


async def test_provider_states_are_the_latest_reports_of_all_workers(pool: Pool):
    state = PipelineState(pool)
    await state.note_providers("a/1", [("claude", "open", False), ("offline", None, True)])
    await state.note_providers("b/1", [("claude", "closed", True), ("offline", None, True)])
    await state.note_providers("b/1", [("claude", "open", False), ("offline", None, True)])
    found = [(each.provider, each.breaker, each.available, each.workers) for each in await state.providers()]
    assert found == [("claude", "open", False, 2), ("offline", None, True, 2)]


async def test_reports_of_a_silent_worker_are_ignored_and_deleted(pool: Pool):
    state = PipelineState(pool)
    await state.note_providers("a/1", [("claude", "open", False)])
    await pool.execute("UPDATE provider_states SET at = at - interval '1 hour'")
    assert await state.providers() == ()
    await state.note_providers("b/1", [("claude", "closed", True)])
    assert await pool.fetchval("SELECT count(*) FROM provider_states") == 1


async def test_calls_in_progress_are_leased_requests_without_an_answer(pool: Pool):
    insert = """INSERT INTO extractions (request_id, conversation_id, partition, policy, policy_version, lease_until, answer)
                VALUES ($1, 'c', 0, 'p', 1, now() + $2::double precision * interval '1 second', $3)"""
    for name, lease_s, answer in (("asked", 60.0, None), ("lapsed", -60.0, None), ("answered", 60.0, {})):
        await pool.execute(insert, name, lease_s, answer)
    under_way = await PipelineState(pool).under_way()
    assert (under_way.calls, under_way.outbox, under_way.outbox_since) == (1, 0, None)
    assert await PipelineState(pool).parked() == ()
