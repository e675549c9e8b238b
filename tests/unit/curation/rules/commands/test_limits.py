"""A namespace above its limit is reduced by a still valid plan, otherwise by the rule."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.curation.rules.commands.limits import NeedsPlan, PlannedStep, enforce_limit, memories_after
from agents.curation.rules.ledger.ledger import Ledger
from agents.models.port import Compaction
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from tests.builders.memories import NOON, a_memory

CAUSE = Cause(actor="offline", request_id="r")


def remembered(number: int, **fields: Any) -> Memory:
    defaults: dict[str, Any] = {
        "memory_id": f"m{number}",
        "text": f"User has {number} dogs",
        "confidence": 0.8,
        "sequence": number,
        "created_at": NOON + timedelta(minutes=number),
        "created_by": "offline",
    }
    return a_memory(at=NOON, **(defaults | fields))


def ledger_of(*memories: Memory) -> Ledger:
    return Ledger("n", 10, memories)


def planned(action: str, memory: Memory, absorbs: Memory | None = None, text: str | None = None) -> PlannedStep:
    compaction = Compaction(
        provider="claude",
        model="m",
        action=action,
        memory_id=memory.memory_id,
        reason="because",
        text=text,
        absorbs=absorbs.memory_id if absorbs else None,
    )
    return PlannedStep(compaction=compaction, seen={each.memory_id: each.text for each in (memory, absorbs) if each})


def live(ledger: Ledger) -> list[str]:
    return [memory.memory_id for memory in ledger.live_memories()]


def test_within_the_limit_nothing_happens(now: datetime) -> None:
    ledger = ledger_of(remembered(1), remembered(2))
    enforce_limit(ledger, 2, None, CAUSE, now)
    enforce_limit(ledger, None, None, CAUSE, now)
    assert ledger.entries == []


def test_exceeding_the_limit_without_a_plan_raises_needs_plan_with_the_newest_memory_last(now: datetime) -> None:
    with pytest.raises(NeedsPlan) as crowded:
        enforce_limit(ledger_of(remembered(3), remembered(1), remembered(2)), 2, None, CAUSE, now)
    assert [memory.memory_id for memory in crowded.value.free] == ["m1", "m2", "m3"]
    assert crowded.value.surplus == 1


def test_the_fallback_rule_deletes_the_oldest_of_the_least_important_memories(now: datetime) -> None:
    ledger = ledger_of(remembered(1, importance=0.6), remembered(2), remembered(3), remembered(4, importance=0.9))
    enforce_limit(ledger, 2, (), CAUSE, now)
    assert live(ledger) == ["m1", "m4"]
    assert [(entry.after.memory_id, entry.change, entry.after.status) for entry in ledger.entries] == [
        ("m2", "compacted", "deleted"),
        ("m3", "compacted", "deleted"),
    ]
    assert ledger.entries[0].cause.actor == "memstream"
    assert "beyond the limit of 2" in (ledger.entries[0].cause.reason or "")


def test_a_planned_deletion_is_applied_with_its_reason(now: datetime) -> None:
    ledger = ledger_of(one := remembered(1, importance=0.9), remembered(2))
    enforce_limit(ledger, 1, [planned("delete", one)], CAUSE, now)
    assert live(ledger) == ["m2"]
    cause = ledger.entries[0].cause
    assert (cause.actor, cause.reason, cause.request_id) == ("claude", "because", "r")


def test_a_planned_edit_absorbs_the_second_memorys_sources_tags_kinds_and_counts(
    now: datetime, source: Callable[..., Any]
) -> None:
    one = remembered(1, sources=(source(1),), tags=("a",), importance=0.4, reinforcement_count=2)
    two = remembered(2, sources=(source(2),), tags=("b",), importance=0.7, kind="event", reinforcement_count=1)
    ledger = ledger_of(one, two)
    enforce_limit(ledger, 1, [planned("edit", one, two, "User has 1 dog, then 2 dogs")], CAUSE, now)
    (memory,) = ledger.live_memories()
    assert (memory.memory_id, memory.text) == ("m1", "User has 1 dog, then 2 dogs")
    assert (memory.sources, memory.tags, memory.kinds) == ((source(1), source(2)), ("a", "b"), ("event",))
    assert (memory.importance, memory.reinforcement_count) == (0.7, 3)
    assert [entry.change for entry in ledger.entries] == ["compacted", "compacted"]
    assert ledger.entries[1].after.superseded_by == "m1"


def test_the_fallback_rule_replaces_a_planned_step_whose_memory_text_has_changed(now: datetime) -> None:
    one, two = remembered(1, importance=0.9), remembered(2)
    step = planned("edit", one, two, "User has 1 dog, then 2 dogs")
    ledger = ledger_of(remembered(1, importance=0.9, text="User has 5 dogs"), two)
    enforce_limit(ledger, 1, [step], CAUSE, now)
    assert [memory.text for memory in ledger.live_memories()] == ["User has 5 dogs"]
    assert ledger.entries[0].cause.actor == "memstream"


def test_pinned_memories_are_never_removed(now: datetime) -> None:
    pinned = [remembered(number, pinned=True, importance=0.1) for number in (1, 2, 3)]
    ledger = ledger_of(*pinned, remembered(4))
    enforce_limit(ledger, 2, [planned("delete", pinned[0])], CAUSE, now)
    assert live(ledger) == ["m1", "m2", "m3"]


def test_a_just_added_memory_is_not_removed_even_if_it_is_the_least_important(now: datetime) -> None:
    ledger = ledger_of(remembered(1, importance=0.9), remembered(2, importance=0.1))
    enforce_limit(ledger, 1, (), CAUSE, now, spared="m2")
    assert live(ledger) == ["m2"]


def test_memories_after_a_step_reflect_the_planned_edit_or_deletion() -> None:
    one, two, three = remembered(1), remembered(2), remembered(3)
    left = memories_after((one, two, three), planned("edit", one, two, "both").compaction)
    assert [memory.text for memory in left] == ["both", "User has 3 dogs"]
    assert memories_after(left, planned("delete", three).compaction) == left[:1]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=12),
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12), st.booleans()), max_size=6),
)
def test_the_memory_limit_is_met_for_any_plan_as_far_as_pinned_memories_allow(
    said: list[tuple[float, bool]], most: int, steps: list[tuple[int, int, bool]]
) -> None:
    memories = [remembered(at, importance=each, pinned=pin) for at, (each, pin) in enumerate(said, 1)]
    plan = [
        planned("edit", remembered(one), remembered(two), f"both {one} {two}")
        if edits and one != two
        else planned("delete", remembered(one))
        for one, two, edits in steps
    ]
    ledger = ledger_of(*memories)
    enforce_limit(ledger, most, plan, CAUSE, NOON)
    pins = {memory.memory_id for memory in memories if memory.pinned}
    assert pins <= set(live(ledger))
    assert len(live(ledger)) == min(len(memories), max(most, len(pins)))


def test_a_large_surplus_is_removed_in_one_pass_over_the_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    of_all = Ledger.live_memories

    def counted(ledger: Ledger) -> list[Memory]:
        nonlocal calls
        calls += 1
        return of_all(ledger)

    ledger = ledger_of(*(remembered(number) for number in range(1_000)))
    monkeypatch.setattr(Ledger, "live_memories", counted)
    enforce_limit(ledger, 10, (), CAUSE, NOON)
    assert calls == 1, "each pass costs milliseconds of everybody's time"
    assert live(ledger) == [f"m{number}" for number in range(990, 1_000)]
