"""Ledger entries of a cutover and of its revert."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from agents.curation.rules.ledger.ledger import Ledger
from agents.replay.comparison import Difference
from agents.replay.switch import cut_over, revert
from schemas.extraction.candidates import Source
from schemas.extraction.links import Link
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from schemas.policies.shadows import shadow_of
from tests.builders.memories import a_memory

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CAUSE = Cause(actor="memstream", reason="cutover")
TEA, CUP = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def live(name: str, text: str, **fields: Any) -> Memory:
    return replace(a_memory(text, memory_id=name), **fields)


def shadow(name: str, text: str, *linked: str, **fields: Any) -> Memory:
    links = tuple(Link(type="relates", memory_id=each) for each in linked)
    return replace(a_memory(text, memory_id=name), namespace=shadow_of("0a1b2c3d", "n"), links=links, **fields)


def switched(ledger: Ledger, *differences: Difference) -> dict[str, Memory]:
    """The memories that were changed, by their texts."""
    cut_over(ledger, differences, {}, CAUSE, NOW)
    return {entry.after.text: entry.after for entry in ledger.entries}


def test_a_changed_memory_keeps_its_id_and_creation_time_and_takes_the_new_text_and_sources():
    before = live("m1", "tea", version=3)
    source = Source(conversation_id="c", message_id="x")
    after = shadow("s1", "green tea", sources=(source,), importance=0.9)
    changed = Difference(fate="changed", before=before, after=after, fields=("text",))
    (memory,) = switched(Ledger("n", 7, [before]), changed).values()
    assert (memory.memory_id, memory.namespace, memory.version, memory.sequence) == ("m1", "n", 4, 8)
    assert (memory.text, memory.importance, memory.sources) == ("green tea", 0.9, (source,))
    assert memory.created_at == before.created_at


def test_links_between_shadow_memories_are_rewritten_to_live_ids():
    before = live("m1", "tea")
    found = (
        Difference(fate="same", before=before, after=shadow("s1", "tea")),
        Difference(fate="added", after=shadow("s2", "kettle", "s1", "s3", "s4")),
        Difference(fate="added", after=shadow("s3", "cup", "s2")),
        Difference(fate="withheld", after=shadow("s4", "pot"), why="deleted by hand"),
    )
    made = switched(Ledger("n", 0, [before]), *found)
    assert {*made} == {"kettle", "cup"}
    assert [link.memory_id for link in made["kettle"].links] == ["m1", made["cup"].memory_id]
    assert [link.memory_id for link in made["cup"].links] == [made["kettle"].memory_id]


def test_kept_equal_and_withheld_memories_are_not_changed_by_a_cutover():
    before = live("m1", "tea")
    found = (
        Difference(fate="kept", before=before, why="pinned"),
        Difference(fate="same", before=before, after=shadow("s1", "tea")),
        Difference(fate="withheld", after=shadow("s2", "pot")),
    )
    assert switched(Ledger("n", 0, [before]), *found) == {}


def test_a_memory_added_again_after_an_undo_has_its_former_id():
    added = Difference(fate="added", after=shadow("s1", "tea"))
    ledger = Ledger("n", 0)
    first = switched(ledger, added)["tea"]
    revert(ledger, {first.memory_id: None}, {}, CAUSE, NOW)
    cut_over(ledger, [added], {}, CAUSE, NOW)
    assert [entry.change for entry in ledger.entries] == ["created", "deleted", "restored"]
    assert {entry.after.memory_id for entry in ledger.entries} == {first.memory_id}


def test_reverted_memories_keep_links_to_each_other_and_lose_links_to_missing_memories():
    both = [Link(type="relates", memory_id="m2"), Link(type="relates", memory_id="gone")]
    befores = {"m1": live("m1", "tea", links=tuple(both)), "m2": live("m2", "cup")}
    ledger = Ledger("n", 0, [replace(each, status="deleted", text="") for each in befores.values()])
    revert(ledger, befores, {"tea": TEA, "cup": CUP}, CAUSE, NOW)
    assert [(entry.change, entry.after.text) for entry in ledger.entries] == [("restored", "tea"), ("restored", "cup")]
    assert [link.memory_id for link in ledger.entries[0].after.links] == ["m2"]


def test_a_revert_without_the_vector_of_a_text_raises_and_changes_nothing():
    before = live("m1", "tea")
    ledger = Ledger("n", 0, [replace(before, status="deleted", text="")])
    with pytest.raises(KeyError, match="tea"):
        revert(ledger, {"m1": before}, {"cup": CUP}, CAUSE, NOW)
    assert ledger.entries == []


def test_a_memory_deleted_before_the_cutover_is_reverted_to_deleted_without_a_vector():
    before = live("m1", "", status="deleted")
    ledger = Ledger("n", 0, [replace(before, status="active", text="tea")])
    revert(ledger, {"m1": before}, {}, CAUSE, NOW)
    assert [(entry.after.status, entry.vector) for entry in ledger.entries] == [("deleted", None)]
