"""Measured ports count calls by outcome and pass results on unchanged."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from agents.dead_letters.writer import dead_letter
from agents.models.auto import AutoProvider
from agents.models.calls.breaker import Breaker
from agents.models.calls.guarded_calls import GuardedCalls
from agents.models.model_provider import ModelProvider
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Context
from agents.windows.records import outgoing
from deploy.metrics.instrumented import MeasuredProvider, MeasuredPublisher
from deploy.metrics.meters import Meters
from deploy.metrics.sampling import provider_states
from schemas import codec
from schemas.budgets.usage import Consumed
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Pruning, Run
from schemas.errors import Deferred, Rejected, Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.policies.policies import DEFAULT_POLICY
from streams.windows.effects import ContextPruned
from tests.builders.slices import MONDAY, slice_of
from tests.fakes.calls import FakeCalls
from tests.fakes.provider import FakeProvider
from tests.fakes.publisher import FakePublisher
from tests.fakes.windows import a_state

REQUEST, CONTEXT = slice_of("I am allergic to peanuts."), Context(policy=DEFAULT_POLICY)


def question_count(meters: Meters, provider: str, outcome: str) -> float | None:
    labels = {"operation": "extract", "provider": provider, "outcome": outcome}
    return meters.registry.get_sample_value("memstream_model_request_duration_seconds_count", labels)


async def test_a_provider_response_is_passed_on_and_its_proposals_are_counted():
    meters, plain = Meters(), OfflineProvider()
    measured = MeasuredProvider(plain, meters)
    answer = await measured.extract(REQUEST, CONTEXT)
    assert answer == await plain.extract(REQUEST, CONTEXT)
    assert (measured.name, measured.leaves_machine) == (plain.name, plain.leaves_machine)
    assert question_count(meters, answer.provider, "answered") == 1
    proposals = meters.registry.get_sample_value("memstream_proposals_total", {"provider": answer.provider})
    assert proposals == len(answer.proposals) == 1


async def test_rejected_proposals_are_counted_by_reason_and_answering_provider():
    meters, provider = Meters(), FakeProvider(takes_s=0)
    provider.rejected = {"unfounded": 2}
    await MeasuredProvider(AutoProvider([provider]), meters).extract(REQUEST, CONTEXT)
    labels = {"provider": "fake", "reason": "unfounded"}
    assert meters.registry.get_sample_value("memstream_proposals_rejected_total", labels) == 2


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Deferred(MONDAY, "budget"), "deferred"),
        (Retryable("down"), "retryable"),
        (Rejected("refused", "no"), "rejected"),
        (RuntimeError("a bug"), "failed"),
    ],
)
async def test_a_failed_provider_call_is_counted_by_outcome_and_raised(error: Exception, outcome: str):
    meters, provider = Meters(), FakeProvider(takes_s=0)
    provider.failures.append(error)
    with pytest.raises(type(error)):
        await MeasuredProvider(provider, meters).extract(REQUEST, CONTEXT)
    assert question_count(meters, "fake", outcome) == 1


async def test_published_changes_and_dead_letters_are_counted_by_type():
    meters, publisher = Meters(), FakePublisher()
    source = SimpleNamespace(
        topic="chat.messages",
        partition=0,
        offset=7,
        timestamp=0,
        headers=(),
        key=b"c",
        value=b'"type":"memstream.memory.created"',
    )
    letter = dead_letter(source, "windows", Rejected("undecodable", "no JSON"), MONDAY)
    changed = {"id": "e", "type": "memstream.memory.superseded", "data": {"text": '"type":"memstream.memory.created"'}}
    event = Outgoing(topic=topics.EVENTS, key=b"n", value=codec.encode(changed))
    await MeasuredPublisher(publisher, meters).publish([letter, event, event])
    value = meters.registry.get_sample_value
    assert value("memstream_dead_letters_total", {"stage": "windows", "reason": "undecodable"}) == 1
    assert value("memstream_memory_changes_total", {"change": "superseded"}) == 2
    assert value("memstream_memory_changes_total", {"change": "created"}) is None
    assert value("memstream_published_records_total", {"topic": topics.EVENTS}) == 2


def test_tokens_and_cost_are_counted_by_model_and_lane():
    meters = Meters()
    call = Consumed(
        usage_id="u",
        at=MONDAY,
        operation="extract",
        lane="live",
        outcome="answered",
        provider="claude",
        model="m",
        calls=2,
        input_tokens=100,
        output_tokens=7,
        cost_micros=1_500,
    )
    meters.consumed([call, call])
    labels = {"provider": "claude", "model": "m", "lane": "live", "operation": "extract"}
    value = meters.registry.get_sample_value
    assert value("memstream_model_tokens_total", labels | {"kind": "input"}) == 200
    assert value("memstream_model_tokens_total", labels | {"kind": "output"}) == 14
    assert value("memstream_model_cost_usd_total", labels) == pytest.approx(0.003)
    assert value("memstream_model_calls_total", labels) == 4


async def test_activity_events_are_counted_by_type():
    meters, publisher = Meters(), FakePublisher()
    events = [b'{"id":"1","type":"memstream.window.warned","data":{"type":"memstream.memory.x"}}', b'{"id":"2"}', None]
    await MeasuredPublisher(publisher, meters).publish(
        [Outgoing(topic=topics.ACTIVITY, key=b"c", value=event) for event in events]
    )
    assert meters.registry.get_sample_value("memstream_activity_total", {"type": "window.warned"}) == 1
    types = {sample.labels["type"] for sample in meters.activity.collect()[0].samples}
    assert types == {"window.warned"}


async def test_pruned_messages_are_counted_by_cause_even_if_ids_contain_similar_json():
    meters, publisher = Meters(), FakePublisher()
    scope = Scope(conversation_id='"cause":"usage","level":"ok","removed":900')
    turns = a_state().statistics
    for cause, count in (("usage", 3), ("usage", 4), ("cleared", 2)):
        pruning = Pruning(1, 0.0, cause, "ok", 9, 3, (Run("oldest", 1, count, count),))
        pruned = outgoing(ContextPruned(scope, 1, pruning, {}, turns), 0, datetime.now(UTC))
        await MeasuredPublisher(publisher, meters).publish([pruned])
    value = meters.registry.get_sample_value
    assert value("memstream_messages_pruned_total", {"cause": "usage"}) == 7
    assert value("memstream_messages_pruned_total", {"cause": "cleared"}) == 2


async def test_circuit_breaker_states_are_exported_only_for_providers_with_a_breaker():
    meters, calls = Meters(), FakeCalls()
    guarded = GuardedCalls(calls, 1, breaker=Breaker(max_outages=1), clock=lambda: 0.0)
    asked_by_rules = OfflineProvider()
    await provider_states(meters, [ModelProvider(guarded), asked_by_rules])
    assert breakers(meters) == {"closed": 1, "open": 0, "half-open": 0}
    guarded._breaker.started()
    guarded._breaker.failed(0.0)
    await provider_states(meters, [ModelProvider(guarded), asked_by_rules])
    assert breakers(meters) == {"closed": 0, "open": 1, "half-open": 0}


async def test_a_provider_that_failed_is_not_available_until_a_probe_was_answered():
    meters, breaker, now = Meters(), Breaker(max_outages=1, cool_down_s=4.0), 0.0
    provider = ModelProvider(GuardedCalls(FakeCalls(), 1, breaker=breaker, clock=lambda: now))

    async def available() -> float:
        await provider_states(meters, [provider])
        (sample,) = meters.available.collect()[0].samples
        return sample.value

    assert await available() == 1.0
    breaker.failed(now)
    assert (provider.breaker_state(), await available()) == ("open", 0.0)
    now = 5.0
    assert (provider.breaker_state(), await available()) == ("half-open", 0.0)
    breaker.started()
    breaker.answered()
    assert await available() == 1.0


def breakers(meters: Meters) -> dict[str, float]:
    return {sample.labels["state"]: sample.value for sample in meters.breaker.collect()[0].samples}
