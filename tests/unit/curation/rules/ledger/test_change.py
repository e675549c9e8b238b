from datetime import datetime, timedelta

from agents.curation.rules.ledger import change
from tests.unit.curation.rules.conftest import MakeCandidate, MakeCommand, MakeMemory, MakeSource


def test_a_new_memory_is_valid_from_its_earliest_source(
    candidate: MakeCandidate, source: MakeSource, now: datetime
) -> None:
    said = candidate("User has a dog", sources=(source(7), source(3)))
    assert change.created(said, "n", "offline", now).valid_from == source(3).timestamp


def test_valid_from_is_a_past_event_time_but_never_a_future_one(candidate: MakeCandidate, now: datetime) -> None:
    moved = candidate("User moved", event_time=now - timedelta(days=900))
    planned = candidate("User will move", event_time=now + timedelta(days=900))
    assert change.created(moved, "n", "offline", now).valid_from == moved.event_time
    assert change.created(planned, "n", "offline", now).valid_from == planned.sources[0].timestamp


def test_a_superseded_memory_keeps_its_text_and_ends_when_the_new_one_begins(
    memory: MakeMemory, source: MakeSource, now: datetime
) -> None:
    until = source(30).timestamp
    assert until is not None
    old, new = memory("User lives in Paris", at=5), memory("User moved to Berlin")
    after = change.superseded(old, new, until, now)
    assert (after.status, after.superseded_by, after.text) == ("superseded", new.memory_id, old.text)
    assert (after.valid_from, after.valid_until) == (source(5).timestamp, until)


def test_no_memory_ends_before_it_begins(memory: MakeMemory, source: MakeSource, now: datetime) -> None:
    early = source(1).timestamp
    assert early is not None
    after = change.superseded(memory("User lives in Paris", at=5), memory("x"), early, now)
    assert after.valid_until == after.valid_from


def test_an_update_command_changes_only_the_fields_it_sets(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    before = memory("User has a dog", tags=("pets",), context="said in passing")
    after = change.updated(
        before, command("update", memory_id=before.memory_id, text="User has two dogs", tags=()), now
    )
    assert (after.text, after.tags, after.context) == ("User has two dogs", (), "said in passing")
    assert after.memory_id == before.memory_id


def test_a_deleted_memory_has_no_content_left(memory: MakeMemory, now: datetime) -> None:
    before = memory("User has a dog", tags=("pets",), context="c", full_text="f", kinds=("pet",))
    after = change.deleted(before, now)
    assert (after.text, after.tags, after.context, after.full_text, after.kinds, after.sources) == (
        *("", (), None, None, (), ()),
    )
    assert after.status == "deleted"


def test_the_same_command_id_creates_different_memory_ids_in_different_namespaces(
    command: MakeCommand, now: datetime
) -> None:
    one = change.created_by_command(command("create", namespace="a"), "text", now)
    other = change.created_by_command(command("create", namespace="b"), "text", now)
    assert one.memory_id != other.memory_id


def test_a_create_command_sets_secondary_kinds_an_update_replaces_and_a_repetition_extends_them(
    command: MakeCommand, now: datetime
) -> None:
    order = command("create", text="User met Ana", memory_kind="person", kinds=("event", "person", "emotion"))
    created = change.created_by_command(order, "User met Ana", now)
    assert (created.kind, created.kinds) == ("person", ("event", "emotion"))
    updated = change.updated(created, command("update", kinds=("interest",)), now)
    assert (updated.kind, updated.kinds) == ("person", ("interest",))
    turned = change.updated(created, command("update", memory_kind="event"), now)
    assert (turned.kind, turned.kinds) == ("event", ("emotion",))
    again = change.reinforced_by_command(created, command("create", kinds=("goal",)), now)
    assert again.kinds == ("event", "emotion", "goal")
