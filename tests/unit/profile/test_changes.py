"""Changes of memories that change a profile."""

from datetime import timedelta

from msgspec.structs import replace

from agents.curation.rules.ledger.change import deleted
from agents.profile.changes import profile_change
from tests.api import NOON, a_memory

PEANUTS = a_memory("m1", text="User is allergic to peanuts.", importance=0.9)
NAME = a_memory("m3", text="User's name is Ada.")
FILM = a_memory("m4", text="User watched a film on Monday.", importance=0.3)


def test_a_new_profile_line_is_reported_with_its_part_and_memory():
    changed = profile_change([(None, PEANUTS), (None, FILM), (None, NAME)], NOON)
    assert changed is not None
    assert (changed.parts, changed.memory_ids) == (("constraint", "name"), ("m1", "m3"))


def test_reinforcements_and_memories_outside_the_profile_produce_no_profile_change():
    again = replace(PEANUTS, version=2, reinforcement_count=1, importance=0.95)
    assert profile_change([(None, FILM), (PEANUTS, again)], NOON) is None


def test_a_removed_or_reworded_profile_line_is_a_profile_change():
    assert profile_change([(PEANUTS, deleted(PEANUTS, NOON))], NOON) is not None
    assert profile_change([(PEANUTS, None)], NOON) is not None
    assert profile_change([(PEANUTS, replace(PEANUTS, text="User is allergic to peanuts and soy."))], NOON) is not None
    assert profile_change([(PEANUTS, replace(PEANUTS, valid_until=NOON + timedelta(days=2)))], NOON) is not None


def test_pinning_a_memory_adds_a_profile_line():
    changed = profile_change([(FILM, replace(FILM, pinned=True))], NOON)
    assert changed is not None and changed.parts == ("pinned",)


def test_a_memory_created_and_deleted_at_once_produces_no_profile_change():
    assert profile_change([(None, PEANUTS), (PEANUTS, deleted(PEANUTS, NOON))], NOON) is None
