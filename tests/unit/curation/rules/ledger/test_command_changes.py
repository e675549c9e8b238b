"""Versions of memories by commands."""

from datetime import datetime

from agents.curation.rules.ledger import command_changes
from tests.unit.curation.rules.conftest import MakeCommand, MakeMemory


def test_an_update_command_changes_only_the_fields_it_sets(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    before = memory("User has a dog", tags=("pets",), context="said in passing")
    after = command_changes.updated(
        before, command("update", memory_id=before.memory_id, text="User has two dogs", tags=()), now
    )
    assert (after.text, after.tags, after.context) == ("User has two dogs", (), "said in passing")
    assert after.memory_id == before.memory_id


def test_the_same_command_id_creates_different_memory_ids_in_different_namespaces(
    command: MakeCommand, now: datetime
) -> None:
    one = command_changes.created_by_command(command("create", namespace="a"), "text", now)
    other = command_changes.created_by_command(command("create", namespace="b"), "text", now)
    assert one.memory_id != other.memory_id


def test_a_create_command_sets_secondary_kinds_an_update_replaces_and_a_repetition_extends_them(
    command: MakeCommand, now: datetime
) -> None:
    order = command("create", text="User met Ana", memory_kind="person", kinds=("event", "person", "emotion"))
    created = command_changes.created_by_command(order, "User met Ana", now)
    assert (created.kind, created.kinds) == ("person", ("event", "emotion"))
    updated = command_changes.updated(created, command("update", kinds=("interest",)), now)
    assert (updated.kind, updated.kinds) == ("person", ("interest",))
    turned = command_changes.updated(created, command("update", memory_kind="event"), now)
    assert (turned.kind, turned.kinds) == ("event", ("emotion",))
    again = command_changes.reinforced_by_command(created, command("create", kinds=("goal",)), now)
    assert again.kinds == ("event", "emotion", "goal")
