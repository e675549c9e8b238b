"""`told_by` is kept apart from the creator of a memory through repetitions, merges, commands and imports."""

from datetime import datetime

from agents.curation.rules.ledger import change, command_changes
from agents.curation.rules.ledger.merge import merge
from schemas.extraction.candidates import Source
from schemas.memories.commands import Origin
from tests.unit.curation.rules.conftest import MakeCandidate, MakeCommand, MakeMemory


def said(message_id: str, user_id: str | None, attributed_to: str | None = None) -> Source:
    return Source(conversation_id="c", message_id=message_id, user_id=user_id, attributed_to=attributed_to)


def test_a_new_memory_names_the_users_who_said_it_and_the_provider_that_found_it(
    candidate: MakeCandidate, now: datetime
) -> None:
    sources = (said("1", "ada"), said("2", "bob"), said("3", "ada"), said("4", None))
    memory = change.created(candidate("They chose Postgres", sources=sources), "n", "offline", now)
    assert (memory.told_by, memory.created_by) == (("ada", "bob"), "offline")


def test_a_memory_attributed_to_the_assistant_has_an_empty_told_by(candidate: MakeCandidate, now: datetime) -> None:
    answered = candidate("The order was sent", sources=(said("1", "ada", attributed_to="assistant"),))
    assert change.created(answered, "n", "offline", now).told_by == ()


def test_a_user_who_repeats_a_memory_is_added_to_told_by(
    memory: MakeMemory, candidate: MakeCandidate, now: datetime
) -> None:
    known = memory("They chose Postgres", sources=(said("1", "ada"),), told_by=("ada",))
    again = candidate("They chose Postgres", sources=(said("2", "bob"), said("3", "ada")))
    assert merge(known, again, now, 200).told_by == ("ada", "bob")


def test_merged_memories_combine_told_by_and_list_each_source_message_once(memory: MakeMemory, now: datetime) -> None:
    earlier = memory("User has a dog", sources=(said("1", None),))
    later = memory("User has a dog named Rex", sources=(said("1", "ada"), said("2", "ada")), told_by=("ada",))
    after = change.merged(earlier, later, "User has a dog named Rex", now)
    assert after.told_by == ("ada",)
    assert [(source.message_id, source.user_id) for source in after.sources] == [("1", "ada"), ("2", "ada")]


def test_a_command_sets_told_by_separately_from_its_actor(command: MakeCommand, now: datetime) -> None:
    made = command_changes.created_by_command(command("create", text="x", told_by=("ada",), actor="desk"), "x", now)
    assert (made.told_by, made.created_by) == (("ada",), "desk")
    again = command_changes.reinforced_by_command(made, command("create", text="x", told_by=("bob",)), now)
    assert again.told_by == ("ada", "bob")


def test_an_import_keeps_told_by_or_derives_told_by_from_the_sources(command: MakeCommand, now: datetime) -> None:
    kept = Origin(told_by=("ada",), sources=(said("1", "bob"),))
    derived = Origin(sources=(said("1", "bob"),))
    imported = [
        command_changes.imported(command("import", text="x", origin=origin), "m", "x", now).told_by
        for origin in (kept, derived)
    ]
    assert imported == [("ada",), ("bob",)]


def test_a_deleted_memory_has_an_empty_told_by(memory: MakeMemory, now: datetime) -> None:
    assert change.deleted(memory("User has a dog", told_by=("ada",)), now).told_by == ()
