"""Messages are numbered by time, in whatever order they arrive."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sinks.passages.ordinals import Numbered, Place, is_within, ordinals

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def at(minute: int, position: int = 0) -> Place:
    return Place(MONDAY + timedelta(minutes=minute), 0, position)


def known(*minutes: int, first: int = 0) -> list[Numbered]:
    return [Numbered(f"m{minute}", number, at(minute)) for number, minute in enumerate(minutes, start=first)]


def test_the_first_messages_are_numbered_in_order_of_time() -> None:
    assert ordinals({"b": at(2), "a": at(1), "c": at(3)}, []) == ({"a": 0, "b": 1, "c": 2}, {})


def test_messages_with_equal_time_are_numbered_by_position() -> None:
    assert ordinals({"a": at(1, position=9), "b": at(1, position=4)}, [])[0] == {"b": 0, "a": 1}


def test_later_messages_go_on_from_the_last() -> None:
    assert ordinals({"b": at(9), "a": at(8)}, known(1, 2)) == ({"a": 2, "b": 3}, {})


def test_earlier_messages_count_down_from_the_first_without_renumbering() -> None:
    assert ordinals({"a": at(1), "b": at(2)}, known(5, 6)) == ({"a": -2, "b": -1}, {})


def test_a_late_message_is_inserted_and_the_messages_behind_it_are_renumbered() -> None:
    assert ordinals({"late": at(2)}, known(1, 3, 4)) == ({"late": 1}, {"m3": 2, "m4": 3})


def test_gaps_left_by_deletions_are_kept() -> None:
    left = [Numbered("m1", 0, at(1)), Numbered("m4", 3, at(4))]
    assert ordinals({"m9": at(9)}, left) == ({"m9": 4}, {})


def test_only_a_message_between_the_ends_requires_all_numbers() -> None:
    ends = known(1, 9)
    assert is_within({"a": at(4)}, ends)
    assert not is_within({"a": at(0), "b": at(10)}, ends)
    assert not is_within({"a": at(4)}, [])


@given(st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=6), min_size=1, max_size=6))
def test_numbers_follow_the_message_times_without_gaps_for_any_batches(
    batches: list[list[int]],
) -> None:
    numbers: dict[str, int] = {}
    places: dict[str, Place] = {}
    for batch in batches:
        new = {f"m{minute}": at(minute) for minute in batch if f"m{minute}" not in places}
        if not new:
            continue
        standing = sorted(
            (Numbered(name, numbers[name], places[name]) for name in places), key=lambda each: each.ordinal
        )
        ends = [*standing[:1], *standing[-1:]]
        fresh, moved = ordinals(new, standing if is_within(new, ends) else ends)
        numbers |= moved | fresh
        places |= new
    in_order = sorted(places, key=lambda name: places[name])
    first = numbers[in_order[0]]
    assert [numbers[name] for name in in_order] == list(range(first, first + len(in_order)))
