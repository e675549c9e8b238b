"""Cutting messages into slices, and the ids of their requests."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from schemas import codec
from schemas.messages import Scope, ToolCall
from schemas.policies import Policy
from streams.topics import TopicSettings
from streams.windows.slices import cut, request
from tests.fakes.chats import CONVERSATION, sliced

POLICY = Policy(name="small", version=3, slice_tokens=100, slice_bytes=1_000, namespaces=("{app_id}", "{user_id}"))
SCOPE = Scope(conversation_id=CONVERSATION, app_id="app", user_id="user")


def positions(messages, policy=POLICY) -> list[list[int]]:
    return [[message.position for message in run] for run in cut(messages, policy)]


def test_nothing_is_cut_from_nothing():
    assert positions([]) == []


def test_a_slice_is_filled_up_to_its_tokens_and_no_further():
    assert positions([sliced(1, 50), sliced(2, 50), sliced(3, 1)]) == [[1, 2], [3]]


def test_a_slice_is_filled_up_to_its_bytes_and_no_further():
    wide = "é" * 130  # 260 bytes, and some around it
    runs = positions([sliced(number, 1, wide) for number in range(4)])
    assert [number for run in runs for number in run] == [0, 1, 2, 3]
    assert 1 < len(runs) < 4
    assert len(positions([sliced(number, 1, "é" * 500) for number in range(4)])) == 4


def test_a_message_larger_than_the_limits_stands_alone():
    assert positions([sliced(1, 10), sliced(2, 101), sliced(3, 10)]) == [[1], [2], [3]]
    assert positions([sliced(1, 1), sliced(2, 1, "x" * 1_001), sliced(3, 1)]) == [[1], [2], [3]]


@given(st.lists(st.tuples(st.integers(0, 150), st.integers(0, 1_200)), max_size=30))
def test_slices_keep_every_message_in_order_within_limits_and_are_as_few_as_fit(sizes):
    messages = [sliced(number, tokens, "x" * length) for number, (tokens, length) in enumerate(sizes)]
    runs = list(cut(messages, POLICY))
    assert [message for run in runs for message in run] == messages

    def fits(run) -> bool:
        size = sum(len(codec.encode(message)) for message in run)
        return sum(m.tokens for m in run) <= POLICY.slice_tokens and size <= POLICY.slice_bytes

    assert all(fits(run) or len(run) == 1 for run in runs)
    assert not any(fits([*run, following]) for run, (following, *_) in pairwise(runs))


def test_the_arguments_of_tool_calls_count_towards_the_bytes_of_a_slice():
    calls = (ToolCall(id="call", name="tool", arguments={"text": "x" * 600_000}),)
    messages = [sliced(number, 1, "", role="assistant", tool_calls=calls) for number in range(8)]
    policy = Policy(name="default")
    for run in cut(messages, policy):
        size = len(codec.encode(request(run, SCOPE, 0, policy, 0.0)))
        assert size <= TopicSettings().own_message_bytes, "the transaction would be refused, again and again"


def test_the_same_slice_has_the_same_id_whoever_asks_and_however_often():
    run = [sliced(4), sliced(6)]
    first = request(run, SCOPE, 2, POLICY, now=10.0)
    later = request(run, Scope(conversation_id=CONVERSATION), 2, Policy(name="other"), now=99.0, attempt=3)
    assert first.request_id == later.request_id
    assert (first.attempt, later.attempt) == (1, 3)


def test_another_slice_has_another_id():
    run = [sliced(4), sliced(6)]
    elsewhere = Scope(conversation_id="conversation-2")
    others = [
        request(run[:1], SCOPE, 2, POLICY, 0.0),
        request(run[1:], SCOPE, 2, POLICY, 0.0),
        request(run, SCOPE, 3, POLICY, 0.0),
        request(run, elsewhere, 2, POLICY, 0.0),
        request([sliced(4, message_id="again"), sliced(6)], SCOPE, 2, POLICY, 0.0),  # a topic that was made anew
        request(run, SCOPE, 2, POLICY, 0.0),
    ]
    assert len({asked.request_id for asked in others}) == len(others)


def test_a_request_says_where_it_came_from_and_what_it_feeds():
    asked = request([sliced(4), sliced(6)], SCOPE, 2, POLICY, now=10.0)
    assert (asked.partition, asked.first, asked.last) == (2, 4, 6)
    assert (asked.policy, asked.policy_version, asked.namespaces) == ("small", 3, ("app", "user"))
    assert asked.requested_at == datetime.fromtimestamp(10, UTC)
    assert [message.position for message in asked.messages] == [4, 6]
