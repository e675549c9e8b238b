"""The curation agent with a fake curator: order, repetitions and failures."""

import asyncio
from collections import deque

from schemas import codec
from schemas.errors import Misconfigured, Retryable
from tests.fakes.batches import batch, record
from tests.fakes.spans import CAUSE, recorded, trace_id, trace_of
from tests.unit.curation.curation_stage import COMMANDS, Stage, command, part


async def test_candidates_are_processed_in_order_within_a_namespace_and_in_parallel_across_namespaces(stage):
    begun = asyncio.get_running_loop().time()
    given = stage.batch(part("a", "1"), part("b", "2"), part("a", "3"), part("b", "4"), part("a", "5"))
    await stage.agent.handle(given)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "3", "5"]
    assert [name for namespace, name in stage.curator.done if namespace == "b"] == ["2", "4"]
    assert asyncio.get_running_loop().time() - begun < 4
    assert given.acked


async def test_a_slow_namespace_delays_no_other_and_keeps_its_order_across_batches(stage):
    stage.curator.slow["1"] = 100.0
    first, second, third = stage.batch(part("a", "1")), stage.batch(part("b", "2")), stage.batch(part("a", "3"))
    for given in (first, second, third):
        await stage.agent.handle(given)
    await asyncio.sleep(3)
    assert [given.acked for given in (first, second, third)] == [False, True, False]
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "3"]
    assert first.acked
    assert third.acked


async def test_the_number_of_batches_in_flight_is_bounded():
    stage = Stage(in_flight=2)
    begun = asyncio.get_running_loop().time()
    for name in "abc":
        await stage.agent.handle(stage.batch(part(name, name)))
    assert asyncio.get_running_loop().time() - begun >= 1
    await stage.settled()
    assert stage.curator.most == 2


async def test_closing_the_agent_cancels_running_work_without_acking(stage):
    given = stage.batch(part("a", "1"))
    await stage.agent.handle(given)
    await stage.agent.handle(stage.batch(part("a", "2")))
    await stage.agent.close()
    assert not given.acked
    assert stage.curator.done == []


async def test_commands_are_applied_in_order_and_acked(stage):
    given = stage.batch(command("a", "first"), command("a", "second"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "first"), ("a", "second")]
    assert given.acked


async def test_a_retryable_failure_is_retried_before_later_records_of_the_same_namespace(stage):
    stage.curator.failures["1"] = deque([Retryable("postgres away"), Retryable("still away")])
    given, later = stage.batch(part("a", "1"), part("a", "2"), part("b", "3")), stage.batch(part("a", "4"))
    await stage.agent.handle(given)
    await stage.agent.handle(later)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "2", "4"]
    assert ("b", "3") in stage.curator.done
    assert given.acked
    assert later.acked


async def test_a_misconfiguration_stops_the_worker_without_acking(stage):
    stage.curator.failures = {"2": deque([Misconfigured("no such table")])}
    given = stage.batch(part("a", "1"), part("b", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert [str(crash) for crash in stage.app.crashes] == ["no such table"]
    assert not given.acked


async def test_processing_stops_once_the_partition_is_lost(stage):
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    await asyncio.sleep(0.5)
    stage.fence.shut()
    stage.fence.open()
    await stage.settled()
    assert stage.curator.done == [("a", "1")]
    assert not given.acked


async def test_an_unexpected_cancellation_stops_the_worker_without_acking(stage):
    stage.curator.failures["1"] = deque([asyncio.CancelledError()])
    given = stage.batch(part("a", "1"), part("b", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert not given.acked
    assert ["cancelled from within" in str(crash) for crash in stage.app.crashes] == [True]


async def test_a_decision_span_joins_the_trace_of_its_record_and_has_the_command_id():
    stage = Stage()
    candidate_batch = batch(
        stage.fence,
        COMMANDS,
        [record(COMMANDS, 0, codec.encode(command("n", "c1")), headers=[("traceparent", CAUSE.encode())])],
    )
    with recorded() as spans:
        await stage.agent.handle(candidate_batch)
        await asyncio.sleep(5)
    span = spans.named("curation decide")
    assert trace_id(span) == trace_of(CAUSE)
    assert dict(span.attributes) == {"memstream.command_id": "c1"}
