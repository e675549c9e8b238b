"""Each text is counted and scanned once."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.conversations.token_count_cache import TokenCountCache
from schemas.conversations.messages import Message, ToolCall
from streams.windows.detectors.detect import Detected, detect_in
from tests.fakes.talk import NOW


class Counting:
    """A TokenCount that notes what it was asked for."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def __call__(self, text: str) -> int:
        self.counted.append(text)
        return len(text)


class Detecting:
    """Notes which texts the detectors looked through."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, message: Message) -> Detected:
        self.read.append(message.content)
        return detect_in(message)


def message(content: str, role: str = "user", **fields: Any) -> Message:
    at = datetime.fromtimestamp(NOW, UTC)
    return Message(conversation_id="c", message_id="m", role=role, timestamp=at, content=content, **fields)  # type: ignore[arg-type]


def test_a_text_is_counted_once_and_cache_hits_are_reported():
    count, notes = Counting(), list[bool]()
    kept = TokenCountCache(count, notes.append)
    assert [kept("hello"), kept("hello"), kept("you"), kept("\ud800")] == [5, 5, 3, 1]
    assert count.counted == ["hello", "you", "\ud800"]
    assert notes == [False, True, False, False]


def test_the_least_recently_used_token_count_is_evicted():
    count = Counting()
    kept = TokenCountCache(count, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        kept(text)
    assert count.counted == ["a", "b", "c", "b"]


def test_traits_are_detected_once_per_text_role_and_tool_calls():
    detecting = Detecting()
    kept = TokenCountCache(Counting(), detect=detecting)
    call = ToolCall(id="t", name="clock")
    ways = [
        message("Error: it failed"),
        message("Error: it failed", "tool"),
        message("Error: it failed", "assistant"),
        message("Error: it failed", "assistant", tool_calls=(call,)),
        message("Thanks!"),
        message(""),
    ]
    for _ in range(2):
        assert [kept.detect(each) for each in ways] == [detect_in(each) for each in ways]
    assert detecting.read == [each.content for each in ways]


def test_traits_are_evicted_at_the_same_limit_as_token_counts():
    detecting = Detecting()
    kept = TokenCountCache(Counting(), most=2, detect=detecting)
    for text in ("a", "b", "a", "c", "a", "b"):
        kept.detect(message(text))
    assert detecting.read == ["a", "b", "c", "b"]


def test_the_token_count_cache_is_thread_safe(few_instructions_between_threads: None):
    kept = TokenCountCache(len, most=2)
    texts = [str(number % 7) for number in range(5_000)]
    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(lambda _: [kept(text) for text in texts], range(4)))
    assert counts == [[1] * len(texts)] * 4


@pytest.fixture
def few_instructions_between_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
