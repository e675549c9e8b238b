"""The curation agent with a fake curator: order, repetition, and what cannot be curated."""

import asyncio
from collections import deque

from schemas import codec
from schemas.errors import Misconfigured, Retryable
from tests.fakes.batches import batch, record
from tests.fakes.spans import CAUSE, recorded, trace_id, trace_of
from tests.unit.curation.staged import COMMANDS, Stage, command, part


async def test_a_namespace_is_decided_in_order_and_several_side_by_side(stage):
    begun = asyncio.get_running_loop().time()
    given = stage.batch(part("a", "1"), part("b", "2"), part("a", "3"), part("b", "4"), part("a", "5"))
    await stage.agent.handle(given)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "3", "5"]
    assert [name for namespace, name in stage.curator.done if namespace == "b"] == ["2", "4"]
    assert asyncio.get_running_loop().time() - begun < 4
    assert given.acked


async def test_a_namespace_that_takes_long_holds_up_no_other_and_keeps_its_order_over_batches(stage):
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


async def test_no_more_batches_are_taken_on_than_are_allowed():
    stage = Stage(in_flight=2)
    begun = asyncio.get_running_loop().time()
    for name in "abc":
        await stage.agent.handle(stage.batch(part(name, name)))
    assert asyncio.get_running_loop().time() - begun >= 1
    await stage.settled()
    assert stage.curator.most == 2


async def test_what_is_still_running_ends_when_the_agent_is_closed(stage):
    given = stage.batch(part("a", "1"))
    await stage.agent.handle(given)
    await stage.agent.handle(stage.batch(part("a", "2")))
    await stage.agent.close()
    assert not given.acked
    assert stage.curator.done == []


async def test_commands_are_carried_out(stage):
    given = stage.batch(command("a", "first"), command("a", "second"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "first"), ("a", "second")]
    assert given.acked


async def test_what_may_pass_is_tried_again_before_anything_later_of_its_namespace(stage):
    stage.curator.failures["1"] = deque([Retryable("postgres away"), Retryable("still away")])
    given, later = stage.batch(part("a", "1"), part("a", "2"), part("b", "3")), stage.batch(part("a", "4"))
    await stage.agent.handle(given)
    await stage.agent.handle(later)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "2", "4"]
    assert ("b", "3") in stage.curator.done
    assert given.acked
    assert later.acked


async def test_what_cannot_pass_stops_the_worker_with_nothing_acked(stage):
    stage.curator.failures = {"2": deque([Misconfigured("no such table")])}
    given = stage.batch(part("a", "1"), part("b", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert [str(crash) for crash in stage.app.crashes] == ["no such table"]
    assert not given.acked


async def test_nothing_more_is_decided_once_the_partition_is_lost(stage):
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    await asyncio.sleep(0.5)
    stage.fence.shut()
    stage.fence.open()
    await stage.settled()
    assert stage.curator.done == [("a", "1")]
    assert not given.acked


async def test_a_cancellation_that_nobody_asked_for_stops_the_worker_and_acks_nothing(stage):
    stage.curator.failures["1"] = deque([asyncio.CancelledError()])
    given = stage.batch(part("a", "1"), part("b", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert not given.acked
    assert ["cancelled from within" in str(crash) for crash in stage.app.crashes] == [True]


async def test_a_decision_is_traced_under_what_asked_for_it_and_named_by_its_ids():
    stage = Stage()
    asked = batch(
        stage.fence,
        COMMANDS,
        [record(COMMANDS, 0, codec.encode(command("n", "c1")), headers=[("traceparent", CAUSE.encode())])],
    )
    with recorded() as spans:
        await stage.agent.handle(asked)
        await asyncio.sleep(5)
    span = spans.named("curation decide")
    assert trace_id(span) == trace_of(CAUSE)
    assert dict(span.attributes) == {"memstream.command_id": "c1"}
