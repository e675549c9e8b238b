"""The time of a memory's event follows the days that the memory's texts name."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.curation.rules.ledger.change import without_clause
from agents.curation.rules.ledger.event_times import event_time_after
from tests.unit.curation.rules.conftest import MakeMemory

DAY = timedelta(days=1)
WEDDING = datetime(2026, 12, 12, 15, tzinfo=UTC)
FRIDAY = datetime(2026, 3, 6, 12, tzinfo=UTC)  # after the Sunday on which the memories are told
PAST = datetime(2024, 5, 3, 12, tzinfo=UTC)
LATE_IN_NEW_YORK = datetime(2026, 5, 4, 2, tzinfo=UTC)
EARLY_IN_TOKYO = datetime(2026, 5, 2, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Marta marries on 2026-12-12.", "Marta marries on 13 December 2026."),
        ("Marta marries on 12 December 2026.", "Marta marries on December 13, 2026."),
        ("Marta marries on 2026-12-12.", "The date moved: Marta marries on 13 December."),
        ("Marta marries on 2026-12-12 (said: in two weeks).", "Marta marries on 2026-12-13 (said: in two weeks)."),
        ("On 2026-12-12, Marta marries Tom.", "On 2026-12-13, Marta marries Tom."),
        (
            "Marta marries on 2026-12-12, and flies on 2026-12-20.",
            "Marta marries on 2026-12-13, and flies on 2026-12-20.",
        ),
        ("Marta heiratet am 12. Dezember 2026.", "Marta heiratet am 13. Dezember 2026."),
        ("Marta se marie le 12 décembre 2026.", "Marta se marie le 13 décembre 2026."),
        ("Marta se casa el 12 de diciembre de 2026.", "Marta se casa el 13 de diciembre de 2026."),
    ],
)
def test_an_event_moves_to_the_date_that_replaces_its_day(memory: MakeMemory, before: str, after: str) -> None:
    assert event_time_after(memory(before, event_time=WEDDING), after) == WEDDING + DAY


@pytest.mark.parametrize(
    ("before", "after", "event_time"),
    [
        ("Marta marries on 2026-12-12.", "Marta marries Tom on 2026-12-12.", WEDDING),
        ("Marta marries on 2026-12-12.", "Marta marries on 2026-12-12, and flies on 2026-12-13.", WEDDING),
        ("Marta marries.", "Marta marries on 2026-12-13.", WEDDING),
        ("User's exam was on 3 May.", "User's final exam was on 3 May.", PAST),
        ("User's exam is on Friday.", "User's final exam is on Friday.", FRIDAY),
        ("User flies on 2026-03-02.", "User flies with Ana tomorrow.", FRIDAY - 4 * DAY),
    ],
)
def test_an_event_whose_day_a_new_text_still_names_keeps_its_time(
    memory: MakeMemory, before: str, after: str, event_time: datetime
) -> None:
    assert event_time_after(memory(before, event_time=event_time), after) == event_time


@pytest.mark.parametrize(
    "after",
    [
        "Marta marries in spring.",
        "Marta marries on 2026-12-13 or on 2026-12-20.",
        "Marta marries tomorrow.",
        "Marta is married (according to a letter of 2027-01-02).",
        "Marta marries Tom, who moved here on 2019-02-01.",
    ],
)
def test_an_event_whose_day_no_date_replaces_has_no_time_any_more(memory: MakeMemory, after: str) -> None:
    assert event_time_after(memory("Marta marries on 2026-12-12.", event_time=WEDDING), after) is None


def test_a_date_without_a_year_is_the_one_nearest_to_the_event(memory: MakeMemory) -> None:
    wedding = memory("Marta's wedding was on 3 May.", event_time=PAST)
    party = memory("The party is on 2026-12-30.", event_time=datetime(2026, 12, 30, 20, tzinfo=UTC))

    assert event_time_after(wedding, "Marta's wedding was on 4 May.") == PAST + DAY
    assert event_time_after(party, "The party is on 2 January.") == datetime(2027, 1, 2, 20, tzinfo=UTC)


@pytest.mark.parametrize("event_time", [LATE_IN_NEW_YORK, EARLY_IN_TOKYO])
def test_an_event_on_another_day_in_utc_moves_by_the_days_between_the_dates(
    memory: MakeMemory, event_time: datetime
) -> None:
    concert = memory("User's concert is on 2026-05-03.", event_time=event_time)

    assert event_time_after(concert, "User's concert in Oslo is on 2026-05-03.") == event_time
    assert event_time_after(concert, "User's concert is on 2026-05-10.") == event_time + 7 * DAY


def test_an_event_that_would_move_past_the_last_day_of_the_calendar_has_no_time_any_more(memory: MakeMemory) -> None:
    concert = memory("User's concert is on 2026-05-03.", event_time=LATE_IN_NEW_YORK)

    assert event_time_after(concert, "User's concert is on 9999-12-31.") is None


def test_an_event_leaves_with_the_clause_that_names_its_day(memory: MakeMemory, now: datetime) -> None:
    dentist = memory("User has physio on 2026-04-04, a dentist on Friday.", event_time=FRIDAY)
    a_year_later = now + 365 * DAY

    assert without_clause(dentist, "User has physio on 2026-04-04.", a_year_later).event_time is None
    assert without_clause(dentist, "User has a dentist on Friday.", a_year_later).event_time == FRIDAY
