"""Cutting messages into slices, and the ids of their requests."""

from datetime import UTC, datetime
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from schemas import codec
from schemas.conversations.messages import Scope, ToolCall
from schemas.conversations.windows import Gap
from schemas.policies.policies import Policy
from streams.kafka.topics import TopicSettings
from streams.windows.entry import Entry
from streams.windows.extraction.slices import MIN_FULL, OVERLAP_CHARS, cut, request, summary_request
from streams.windows.rows.head import Head
from tests.fakes.chats import CONVERSATION, sliced

POLICY = Policy(name="small", version=3, slice_tokens=100, slice_bytes=1_000, namespaces=("{app_id}", "{user_id}"))
SCOPE = Scope(conversation_id=CONVERSATION, app_id="app", user_id="user")


SIZES = st.lists(st.tuples(st.integers(0, 150), st.integers(0, 1_200), st.booleans()), max_size=30)


def positions(messages, policy=POLICY) -> list[list[int]]:
    """The runs of messages that all belong to one task."""
    return [[message.position for message in run] for run in cut([Entry(message) for message in messages], policy)]


def tasks(*sizes: list[int]) -> list[Entry]:
    """Messages of so many tokens each, one task a list."""
    numbered = [(tokens, task) for task, messages in enumerate(sizes) for tokens in messages]
    return [Entry(sliced(at, tokens), segment=task) for at, (tokens, task) in enumerate(numbered)]


def entered(sizes) -> list[Entry]:
    """Messages of so many tokens and characters, each of which may begin a task."""
    began = accumulate(begins for _, _, begins in sizes)
    return [
        Entry(sliced(at, tokens, "x" * length), segment=segment)
        for at, ((tokens, length, _), segment) in enumerate(zip(sizes, began, strict=True))
    ]


def fits(run) -> bool:
    size = sum(len(codec.encode(message)) for message in run)
    return sum(message.tokens for message in run) <= POLICY.slice_tokens and size <= POLICY.slice_bytes


def full(run) -> float:
    characters = sum(len(message.content) for message in run)
    return max(sum(message.tokens for message in run) / POLICY.slice_tokens, characters / POLICY.slice_bytes)


def test_cut_of_no_messages_returns_no_slices():
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


@given(SIZES)
def test_slices_keep_every_message_in_order_and_within_limits(sizes):
    entries = entered(sizes)
    runs = list(cut(entries, POLICY))
    assert [message for run in runs for message in run] == [entry.message for entry in entries]
    assert all(fits(run) or len(run) == 1 for run in runs)


@given(SIZES)
def test_slices_are_filled_to_the_limit_unless_they_end_with_a_task(sizes):
    entries = entered(sizes)
    segment = {entry.position: entry.segment for entry in entries}
    for run, (following, *_) in pairwise(cut(entries, POLICY)):
        ends_with_a_task = segment[run[-1].position] != segment[following.position] and full(run) >= MIN_FULL
        assert ends_with_a_task or not fits([*run, following])


@given(SIZES)
def test_cutting_again_from_the_start_of_any_slice_gives_the_same_remaining_slices(sizes):
    entries = entered(sizes)
    runs = list(cut(entries, POLICY))
    for number, run in enumerate(runs):
        rest = [entry for entry in entries if entry.position >= run[0].position]
        assert list(cut(rest, POLICY)) == runs[number:]


@pytest.mark.parametrize(
    ("sizes", "runs"),
    [
        (([40, 40], [10, 20]), [[0, 1], [2, 3]]),  # the second task begins behind the first half
        (([30, 30], [10], [10], [10, 50]), [[0, 1, 2, 3], [4, 5]]),  # the last of three that begin there
        (([40, 60], [10]), [[0, 1], [2]]),  # a task begins where the slice is full anyway
        (([10, 20], [50, 20, 40]), [[0, 1, 2, 3], [4]]),  # one that begins in the first half is cut in two
        (([60, 20], [150]), [[0, 1], [2]]),
        (([60], [20, 90]), [[0], [1], [2]]),  # what is left over does not fit with the next one
        (([60], [20]), [[0, 1]]),  # nothing is cut that is not full
    ],
)
def test_a_full_slice_ends_where_the_last_task_in_its_second_half_begins(sizes, runs):
    assert [[message.position for message in run] for run in cut(tasks(*sizes), POLICY)] == runs


def test_the_arguments_of_tool_calls_count_towards_the_bytes_of_a_slice():
    calls = (ToolCall(id="call", name="tool", arguments={"text": "x" * 600_000}),)
    messages = [sliced(number, 1, "", role="assistant", tool_calls=calls) for number in range(8)]
    policy = Policy(name="default")
    for run in cut([Entry(message) for message in messages], policy):
        size = len(codec.encode(request(run, SCOPE, 0, policy, 0.0)))
        assert size <= TopicSettings().own_message_bytes, "the transaction would be refused, again and again"


def test_the_request_id_of_a_slice_does_not_depend_on_policy_time_or_attempt():
    run = [sliced(4), sliced(6)]
    first = request(run, SCOPE, 2, POLICY, now=10.0)
    later = request(run, Scope(conversation_id=CONVERSATION), 2, Policy(name="other"), now=99.0, attempt=3)
    assert first.request_id == later.request_id
    assert (first.attempt, later.attempt) == (1, 3)


def test_different_slices_have_different_request_ids():
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
    assert len({each.request_id for each in others}) == len(others)


def test_a_request_carries_its_source_positions_its_policy_and_its_target_namespaces():
    made = request([sliced(4), sliced(6)], SCOPE, 2, POLICY, now=10.0)
    assert (made.partition, made.first, made.last) == (2, 4, 6)
    assert (made.policy, made.policy_version, made.namespaces) == (
        "small",
        3,
        ("app", "user"),
    )
    assert made.requested_at == datetime.fromtimestamp(10, UTC)
    assert [message.position for message in made.messages] == [4, 6]


def test_a_request_carries_truncated_preceding_messages_that_do_not_change_its_id():
    called = (ToolCall(id="call", name="tool", arguments={"text": "x"}),)
    before = [sliced(2, content="é" * 9_000 + "?", role="assistant", tool_calls=called), sliced(3)]
    made = request([sliced(4)], SCOPE, 2, POLICY, now=10.0, overlap=before)
    assert [message.position for message in made.overlap] == [2, 3]
    assert made.overlap[0].content == "…" + "é" * (OVERLAP_CHARS - 1) + "?" and made.overlap[0].tool_calls == ()
    assert made.request_id == request([sliced(4)], SCOPE, 2, POLICY, now=10.0).request_id


@pytest.mark.parametrize("kept", [False, True])
def test_requests_carry_the_local_only_flag_of_their_policy(kept):
    policy = structs.replace(POLICY, local_only=kept)
    head = Head(scope=SCOPE, partition=1)
    requests = [
        request([sliced(1)], SCOPE, 1, policy, 0.0),
        summary_request([Entry(sliced(1))], Gap(first=1, last=1, count=1, tokens=9), head, policy, 0.0),
    ]
    assert [each.local_only for each in requests] == [kept, kept]
