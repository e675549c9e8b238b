"""Tokens of a text are counted once, and long texts beside the event loop."""

from typing import Any

import pytest

from agents.conversations.kept_counts import AT_ONCE, KeptCounts


class Counting:
    """A TokenCount that notes what it was asked for."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def __call__(self, text: str) -> int:
        self.counted.append(text)
        return len(text)


class Beside:
    """Runs at once what is to run beside the event loop, and counts how often."""

    runs = 0

    async def __call__(self, work: Any) -> Any:
        self.runs += 1
        return work()


@pytest.fixture
def beside() -> Beside:
    return Beside()


def test_a_text_is_counted_once_and_the_hit_rate_is_told():
    count, told = Counting(), list[bool]()
    kept = KeptCounts(count, told.append)
    assert [kept("hello"), kept("hello"), kept("you"), kept("\ud800")] == [5, 5, 3, 1]
    assert count.counted == ["hello", "you", "\ud800"]
    assert told == [False, True, False, False]


def test_the_least_recently_used_leaves_first():
    count = Counting()
    kept = KeptCounts(count, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        kept(text)
    assert count.counted == ["a", "b", "c", "b"]


async def test_long_texts_are_counted_beside_the_event_loop_and_once(beside):
    count = Counting()
    kept = KeptCounts(count, apart=beside)
    texts = [str(number) * AT_ONCE for number in range(1, 4)]
    await kept.prepare(texts)
    assert [kept(text) for text in texts] == [AT_ONCE] * 3
    await kept.prepare(texts)
    assert (beside.runs, len(count.counted)) == (1, 3)


async def test_short_texts_are_not_worth_a_thread(beside):
    kept = KeptCounts(Counting(), apart=beside)
    await kept.prepare(["hello"] * 10)
    assert beside.runs == 0


async def test_a_context_that_is_asked_for_twice_is_counted_once(beside):
    count = Counting()
    kept = KeptCounts(count, apart=beside)
    for _ in range(2):
        await kept.prepare(["x" * AT_ONCE, "y" * AT_ONCE])
        kept("x" * AT_ONCE)
    assert len(count.counted) == 2
