"""Pending slices, message ids and rows of a window are bounded, and nothing is lost at the bounds."""

from schemas import codec
from schemas.conversations.window_settings import WindowSettings
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from schemas.policies.triggers import Triggers
from streams.windows.extraction.progress import MAX_PENDING_REQUESTS
from streams.windows.rows import rows
from streams.windows.seen_messages import REMEMBERED
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, message, requests_among, terms, unextracted

NOW = 1_800_000_000.0
EACH = terms(Policy(name="each", triggers=Triggers(after_tokens=1)))


def requests_for(window: Window, numbers: range, now: float = NOW) -> list[ExtractionRequest]:
    return [
        request
        for number in numbers
        for request in requests_among(window.add(message(number), number, 10, always(EACH), now))
    ]


def test_the_number_of_pending_requests_is_bounded():
    window = Window.opened(CONVERSATION, 0)
    assert len(requests_for(window, range(100))) == MAX_PENDING_REQUESTS == len(window.head.pending)
    assert unextracted(window) == list(range(100))


def test_messages_behind_a_full_backlog_are_requested_as_answers_arrive():
    window = Window.opened(CONVERSATION, 0)
    requests, offset = requests_for(window, range(100)), 0
    while offset < len(requests):
        answer = control("extraction_completed", request_id=requests[offset].request_id)
        requests += requests_among(window.control(answer, offset, EACH, NOW))
        offset += 1
    assert [each.position for request in requests for each in request.messages] == list(range(100))
    assert unextracted(window) == []
    assert window.head.finished


def test_messages_behind_a_full_backlog_survive_a_restart():
    window = Window.opened(CONVERSATION, 0)
    requests = requests_for(window, range(50))
    stored = rows.save(window)
    loaded = rows.load(CONVERSATION, stored.get)
    assert loaded is not None
    answer = control("extraction_completed", request_id=requests[0].request_id)
    (further,) = requests_among(loaded.control(answer, 0, EACH, NOW))
    assert [each.position for each in further.messages] == list(range(MAX_PENDING_REQUESTS, 50))


def test_a_full_backlog_sets_a_deadline_for_overdue_answers_only():
    window = Window.opened(CONVERSATION, 0)
    requests_for(window, range(50))
    assert window.deadline(EACH.policy).at == NOW + EACH.policy.reask_after_s
    again = requests_among(window.due(1_000, EACH, NOW + EACH.policy.reask_after_s))
    assert [request.attempt for request in again] == [2] * MAX_PENDING_REQUESTS


def test_the_head_of_a_long_conversation_without_answers_stays_small():
    """10,000 messages, an outage of the model all the while: the head lists a bounded number of slices and few chunks."""
    window = Window.opened(CONVERSATION, 0)
    for start in range(0, 10_000, 10):
        requests_for(window, range(start, start + 10))
        written = rows.save(window)
    assert len(written[rows.head_key(CONVERSATION)] or b"") < 4_096


def test_the_row_of_removed_messages_and_their_reasons_has_a_bounded_size():
    pruning = terms(Policy(name="p", extract=False, window=WindowSettings(strategy="importance")), 1_000_000)
    window = Window.opened(CONVERSATION, 0)
    for number in range(5_000):
        said = message(number, f"Number {number}, never do that.", role=("user", "assistant")[number % 2])
        window.add(said, number, 10, always(pruning), NOW)
        rows.save(window)
    assert len(codec.encode(window.history.removals)) < 16_384
    assert len(window.entries) <= pruning.policy.window.max_messages
    assert len(window.history.removals.removed_digests) == REMEMBERED
    assert len(codec.encode(window.head)) < 600


def test_a_message_of_a_megabyte_is_kept_in_memory_without_a_copy():
    window = Window.opened(CONVERSATION, 0)
    content = "A long story. " * 75_000
    window.add(message(1, content), 1, 300_000, always(EACH), NOW)
    assert window.entries[1].message.content is content
    assert window.history.messages_in_context()[0].tokens == 300_000
