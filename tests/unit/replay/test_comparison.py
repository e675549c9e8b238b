"""Differences between a generation and live memories: equal, changed, withdrawn and kept ones."""

import tracemalloc
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agents.curation.rules.decisions.thresholds import Thresholds
from agents.replay.comparison import EndedMemory, LiveMemory, ReplayedMemory, compare, pair, replayed_whole
from schemas.extraction.candidates import Source
from sinks.vectors.port import Vector
from tests.builders.memories import a_memory

THRESHOLDS = Thresholds(related=0.7, merge=0.85)


def pointing(*values: float) -> Vector:
    return np.array(values, dtype=np.float32)


NORTH, NEAR, EAST = pointing(1, 0), pointing(0.75, 0.66), pointing(0, 1)


def memory(text: str, *messages: str, **fields: Any) -> Any:
    sources = tuple(Source(conversation_id="c", message_id=each, position=1) for each in messages)
    return replace(a_memory(text, memory_id=f"id of {text}"), sources=sources, **fields)


def fates(live: Any = (), ended: Any = (), again: Any = ()) -> list[tuple[str, str | None, str | None]]:
    found = compare(live, ended, again, THRESHOLDS)
    return [
        (each.fate, each.before.text if each.before else None, each.after.text if each.after else None)
        for each in found
    ]


def test_texts_that_differ_only_in_case_and_punctuation_are_the_same_memory():
    live, again = LiveMemory(memory=memory("Likes tea.", "m1")), ReplayedMemory(memory=memory("likes tea", "m2"))
    (difference,) = compare([live], [], [again], THRESHOLDS)
    assert (difference.fate, difference.fields) == ("changed", ("text",))
    (difference,) = compare([live], [], [ReplayedMemory(memory=replace(live.memory, memory_id="x"))], THRESHOLDS)
    assert difference.fate == "same"


def test_a_different_end_of_validity_is_a_change():
    live = LiveMemory(memory=memory("Lives in Porto.", "m1"))
    again = ReplayedMemory(memory=replace(live.memory, memory_id="x", valid_until=datetime(2026, 4, 1, tzinfo=UTC)))
    (difference,) = compare([live], [], [again], THRESHOLDS)
    assert (difference.fate, difference.fields) == ("changed", ("valid_until",))


def test_similar_texts_from_the_same_message_are_one_changed_memory():
    live = LiveMemory(memory=memory("Likes tea.", "m1"), vector=NORTH)
    again = ReplayedMemory(memory=memory("Drinks green tea in the morning.", "m1"), vector=NEAR)
    assert fates([live], (), [again]) == [("changed", "Likes tea.", "Drinks green tea in the morning.")]


def test_near_texts_of_different_messages_are_two_memories():
    live = LiveMemory(memory=memory("Likes tea.", "m1"), vector=NORTH)
    again = ReplayedMemory(memory=memory("Drinks green tea in the morning.", "m2"), vector=NEAR)
    assert [each[0] for each in fates([live], (), [again])] == ["lost", "added"]


def test_a_memory_is_paired_with_its_nearest_counterpart():
    live = LiveMemory(memory=memory("Likes tea.", "m1"), vector=NORTH)
    far = ReplayedMemory(memory=memory("Has a kettle.", "m1"), vector=NEAR)
    near = ReplayedMemory(memory=memory("Loves tea.", "m1"), vector=NORTH)
    assert fates([live], (), [far, near]) == [
        ("changed", "Likes tea.", "Loves tea."),
        ("added", None, "Has a kettle."),
    ]


@pytest.mark.parametrize("stays", ["by hand", "pinned", "said elsewhere"])
def test_a_protected_live_memory_is_kept_whatever_the_generation_contains(stays: Any):
    live = LiveMemory(memory=memory("Likes tea.", "m1"), vector=NORTH, reason_kept=stays)
    assert fates([live]) == [("kept", "Likes tea.", None)]
    again = ReplayedMemory(memory=memory("Loves tea.", "m1"), vector=NORTH)
    assert fates([live], (), [again]) == [("kept", "Likes tea.", "Loves tea.")]


def test_a_memory_that_was_deleted_before_is_withheld():
    ended = EndedMemory(memory=memory("Likes tea.", "m1"), why="deleted by hand")
    again = ReplayedMemory(memory=memory("Likes  tea", "m1"))
    assert fates((), [ended], [again]) == [("withheld", None, "Likes  tea")]
    assert fates((), [ended], [ReplayedMemory(memory=memory("Has a kettle.", "m1"))]) == [
        ("added", None, "Has a kettle.")
    ]


def test_a_negligible_importance_difference_is_no_change():
    live = LiveMemory(memory=memory("Likes tea.", "m1", importance=0.5))
    for importance, fate in ((0.501, "same"), (0.6, "changed")):
        again = ReplayedMemory(memory=memory("Likes tea.", "m1", importance=importance))
        assert [each[0] for each in fates([live], (), [again])] == [fate]


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["m1", "m2"]), st.booleans()), max_size=8), st.data()
)
def test_every_memory_of_both_sides_appears_in_exactly_one_difference(sides: Any, data: Any):
    live, again = [], []
    for number, (text, message, is_live) in enumerate(sides):
        said = replace(memory(text, message), memory_id=str(number))
        vector = data.draw(st.sampled_from([None, NORTH, NEAR, EAST]))
        (live if is_live else again).append((LiveMemory if is_live else ReplayedMemory)(memory=said, vector=vector))
    found = compare(live, [], again, THRESHOLDS)
    memory_ids = [each.memory_id for difference in found for each in (difference.before, difference.after) if each]
    assert sorted(memory_ids) == sorted(str(number) for number in range(len(sides)))


def test_pairing_thousands_of_memories_uses_little_memory():
    rng = np.random.default_rng(1)
    vectors = [pointing(*row) for row in rng.standard_normal((4_000, 64))]
    live = [LiveMemory(memory=memory(f"live {at}"), vector=vector) for at, vector in enumerate(vectors)]
    again = [ReplayedMemory(memory=memory(f"again {at}"), vector=vector) for at, vector in enumerate(reversed(vectors))]
    tracemalloc.start()
    partners = pair(live, again, THRESHOLDS)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert partners == {at: 3_999 - at for at in range(4_000)}
    assert most < 4_000 * 4_000 * 8 / 2, "half of what a table of all cosines takes"


def test_the_first_ended_memory_with_the_same_text_gives_the_reason_for_withholding():
    ended = [
        EndedMemory(memory=memory("Likes coffee.", "m1"), why="a"),
        EndedMemory(memory=memory("Likes tea", "m2"), why="b"),
        EndedMemory(memory=memory("likes tea.", "m1"), why="c"),
    ]
    (difference,) = compare([], ended, [ReplayedMemory(memory=memory("Likes tea.", "m1"))], THRESHOLDS)
    assert (difference.fate, difference.why) == ("withheld", "b")


def test_a_memory_counts_as_replayed_only_if_all_its_sources_are_in_replayed_ranges():
    at = [Source(conversation_id="c", message_id=str(number), position=number) for number in range(10)]
    ranges = {"c": [(2, 4), (6, 7)]}
    assert replayed_whole(at[2:5], ranges)
    assert replayed_whole([at[4], at[6]], ranges)
    assert not replayed_whole(at[4:6], ranges)
    assert not replayed_whole([Source(conversation_id="d", message_id="1", position=3)], ranges)
    assert not replayed_whole([Source(conversation_id="c", message_id="1")], ranges)
    assert not replayed_whole([], ranges)
