"""Versions of memories by commands."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.curation.rules.ledger import command_changes
from schemas.memories.commands import Origin
from tests.builders.memories import NOON
from tests.unit.curation.rules.conftest import MakeCommand, MakeMemory

DAY = timedelta(days=1)


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


@pytest.mark.parametrize(
    ("origin", "begins_days", "ends_days"),
    [
        (Origin(valid_from=NOON - 9 * DAY, valid_until=NOON - 2 * DAY), -9, -2),
        (Origin(created_at=NOON - 9 * DAY, valid_until=NOON - 2 * DAY), -9, -2),
        (Origin(created_at=NOON - DAY, valid_until=NOON - 2 * DAY), None, -2),
        (Origin(valid_until=NOON - 2 * DAY), None, -2),
        (Origin(valid_until=NOON + DAY), 0, 1),
    ],
    ids=["both", "told before the end", "told after the end", "end alone", "end in the future"],
)
def test_an_import_keeps_an_end_of_validity_and_begins_before_it_or_at_an_unknown_time(
    command: MakeCommand, origin: Origin, begins_days: int | None, ends_days: int
) -> None:
    made = command_changes.imported(command("import", text="x", origin=origin), "m", "x", NOON)
    begins = None if begins_days is None else NOON + begins_days * DAY
    assert (made.valid_from, made.valid_until) == (begins, NOON + ends_days * DAY)


WEDDING = datetime(2026, 12, 12, 15, tzinfo=UTC)


def test_a_new_text_a_year_later_is_read_as_when_the_memory_was_told(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    known, a_year_later = memory("Marta marries on 12 December.", event_time=WEDDING), now + 365 * DAY
    order = command("update", text="Marta marries Tom on 12 December.", at=a_year_later)

    assert command_changes.updated(known, order, a_year_later).event_time == WEDDING


def test_a_given_or_cleared_event_time_counts_whatever_the_new_text_says(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    known, text = memory("Marta marries on 2026-12-12.", event_time=WEDDING), "Marta marries on 2026-12-13."

    given = command_changes.updated(known, command("update", text=text, event_time=WEDDING + 2 * DAY), now)
    cleared = command_changes.updated(known, command("update", text=text, cleared=("event_time",)), now)

    assert (given.event_time, cleared.event_time) == (WEDDING + 2 * DAY, None)
