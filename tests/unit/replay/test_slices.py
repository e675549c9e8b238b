"""A conversation is replayed in the slices that its window would have cut, by message timestamps."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agents.replay.slices import slices
from agents.windows.terms import WindowTerms
from schemas.conversations.window_settings import WindowSettings
from schemas.policies.policies import Policies, Policy
from schemas.policies.triggers import Triggers
from sinks.archive.messages import ArchivedMessage
from streams.windows.tokens.model_limits import ModelLimits
from tests.fakes.chats import BEGAN, message

LIMITS = ModelLimits(default=200_000, context_tokens={})
HOUR_S = 3_600


def said(number: int, at_s: float = 0.0, partition: int = 0, **fields: Any) -> ArchivedMessage:
    timely = replace(message(number, **fields), timestamp=BEGAN + timedelta(seconds=at_s))
    return ArchivedMessage(message=timely, partition=partition, position=number)


def cut(policy: Policy, *messages: ArchivedMessage) -> list[list[int]]:
    """The positions of each slice."""
    made = slices(messages, WindowTerms(Policies((policy,)), LIMITS), lambda text: 10)
    return [[each.position for each in request.messages] for request in made]


def test_a_replayed_conversation_ends_with_its_last_message():
    assert cut(Policy(name="p"), said(1), said(2, 5), said(3, 9)) == [[1, 2, 3]]


def test_every_exchange_is_a_slice_if_the_policy_triggers_on_exchange():
    policy = Policy(name="p", triggers=Triggers(on_exchange=True))
    turns = (said(1), said(2, role="assistant"), said(3), said(4, role="assistant"), said(5))
    assert cut(policy, *turns) == [[1, 2], [3, 4], [5]]


def test_an_idle_pause_cuts_a_slice_before_it():
    policy = Policy(name="p", triggers=Triggers(idle_s=60))
    assert cut(policy, said(1), said(2, 30), said(3, 91), said(4, 120)) == [[1, 2], [3, 4]]


def test_a_slice_is_cut_after_the_configured_number_of_tokens():
    policy = Policy(name="p", triggers=Triggers(after_tokens=20))
    assert cut(policy, *(said(number, number) for number in range(1, 6))) == [[1, 2], [3, 4], [5]]


def test_a_long_pause_starts_another_window_without_losing_messages():
    assert cut(Policy(name="p"), said(1), said(2, 10 * 24 * HOUR_S)) == [[1], [2]]


def test_each_partition_has_its_own_window():
    assert cut(Policy(name="p"), said(1), said(2, 5), said(7, 9, partition=1)) == [[1, 2], [7]]


def test_a_policy_without_extraction_produces_no_slices():
    assert cut(Policy(name="p", extract=False), said(1), said(2, 5)) == []


def test_messages_pruned_into_summaries_are_not_sliced_again():
    window = WindowSettings(max_messages=5, min_recent=2, summarise=True)
    messages = [said(number, number * HOUR_S / 2) for number in range(1, 40)]
    assert [at for run in cut(Policy(name="p", window=window), *messages) for at in run] == list(range(1, 40))


TRIGGERS = st.builds(
    Triggers,
    on_exchange=st.booleans(),
    after_tokens=st.none() | st.integers(10, 200),
    idle_s=st.none() | st.floats(1.0, 10_000.0),
    age_s=st.none() | st.floats(1.0, 10_000.0),
)


@given(TRIGGERS, st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(0, 200_000)), max_size=60))
def test_every_message_is_in_exactly_one_slice_and_slicing_is_deterministic(triggers: Triggers, turns: Any):
    policy, at_s, messages = Policy(name="p", triggers=triggers, slice_tokens=100), 0, []
    for number, (role, pause_s) in enumerate(turns):
        at_s += pause_s
        messages.append(said(number, at_s, role=role))
    once = cut(policy, *messages)
    assert [at for run in once for at in run] == list(range(len(messages)))
    assert cut(policy, *messages) == once


def test_more_slices_than_the_in_flight_limit_are_all_produced():
    policy = Policy(name="p", slice_tokens=130)
    assert len(cut(policy, *(said(number, number) for number in range(500)))) == 50
