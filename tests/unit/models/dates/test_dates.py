"""Dates in sentences, said on Monday 2026-03-02 at 10:00 in Berlin unless stated otherwise."""

from datetime import UTC, date, datetime

import pytest

from agents.models.dates.dates import dates_in, event_time, local, with_absolute_dates
from tests.builders.slices import BERLIN, MONDAY
from tests.cases.dated_sentences import NO_DATES, RESOLVED

NOW = local(MONDAY, BERLIN)


@pytest.mark.parametrize(("language", "sentence", "day"), RESOLVED)
def test_date_is_resolved_against_the_message(language: str, sentence: str, day: date) -> None:
    assert [found.day for found in dates_in(sentence, NOW, language)] == [day]


@pytest.mark.parametrize("sentence", NO_DATES)
def test_expressions_that_name_no_single_day_are_not_parsed_as_dates(sentence: str) -> None:
    assert dates_in(sentence, NOW, "en") == []


@pytest.mark.parametrize("sentence", ["VA appointment oct 3 0800", "next slot is October 3, 0930"])
def test_a_clock_time_after_a_day_is_not_parsed_as_a_year(sentence: str) -> None:
    assert [found.day for found in dates_in(sentence, NOW, "en")] == [date(2026, 10, 3)]


def test_relative_days_use_the_speakers_time_zone_instead_of_utc() -> None:
    late = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    assert dates_in("I fly tomorrow", local(late, "Asia/Tokyo"), "en")[0].day == date(2026, 3, 4)
    assert dates_in("I fly tomorrow", local(late, "America/Lima"), "en")[0].day == date(2026, 3, 3)


def test_an_unknown_time_zone_falls_back_to_the_offset_of_the_timestamp() -> None:
    assert local(MONDAY, "Mars/Olympus") == MONDAY


def test_one_month_after_the_end_of_january_is_the_last_day_of_february() -> None:
    january = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
    assert dates_in("in a month", january, "en")[0].day == date(2026, 2, 28)


@pytest.mark.parametrize(
    ("said_on", "winters"),
    [
        ((2026, 1, 15), {"last": 2024, "this": 2025, "next": 2026}),
        ((2026, 3, 2), {"last": 2025, "this": 2026, "next": 2026}),
        ((2026, 12, 15), {"last": 2025, "this": 2026, "next": 2027}),
    ],
)
def test_a_winter_is_named_by_the_year_in_which_it_begins(
    said_on: tuple[int, int, int], winters: dict[str, int]
) -> None:
    said_at = datetime(*said_on, 12, tzinfo=UTC)
    for which, year in winters.items():
        assert dates_in(f"{which} winter", said_at, "en")[0].day == date(year, 12, 1), which


def test_relative_date_is_written_out_and_quoted() -> None:
    sentence = "User flies next Friday"
    assert with_absolute_dates(sentence, dates_in(sentence, NOW, "en"), "en") == (
        "User flies on 2026-03-06",
        " (said: next Friday)",
    )


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("10 years ago", "In 2016"),
        ("two weeks ago", "In the week of 2026-02-16"),
        ("the other day", "A few days before 2026-03-02"),
        ("several months ago", "A few months before 2026-03-02"),
        ("the day before yesterday", "On 2026-02-28"),
        ("in a couple of months", "A couple of months after 2026-03-02"),
        ("next winter", "In the winter of 2026"),
    ],
)
def test_a_resolved_date_is_no_more_precise_than_the_expression(sentence: str, written: str) -> None:
    assert with_absolute_dates(sentence, dates_in(sentence, NOW, "en"), "en")[0] == written


def test_absolute_date_is_written_out_without_a_quotation() -> None:
    sentence = "moved from March 3rd to 1 April"
    assert with_absolute_dates(sentence, dates_in(sentence, NOW, "en"), "en") == (
        "moved from 2026-03-03 to 2026-04-01",
        "",
    )


@pytest.mark.parametrize(
    ("language", "sentence", "hour"),
    [
        ("en", "at 3pm", 14),
        ("en", "at 15:30", 14),
        ("en", "somewhere", 11),
        ("de", "um 15 Uhr", 14),
        ("fr", "à 15h", 14),
        ("es", "a las 15", 14),
    ],
)
def test_event_time_is_utc_and_noon_without_a_clock_time(language: str, sentence: str, hour: int) -> None:
    assert event_time(date(2026, 3, 6), sentence, NOW, language).hour == hour


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "we go every Tuesday and Friday"),
        ("en", "every Monday, Wednesday and Friday"),
        ("de", "jeden Dienstag und Freitag"),
    ],
)
def test_all_weekdays_of_a_recurring_list_recur(language: str, sentence: str) -> None:
    assert dates_in(sentence, NOW, language) == []


def test_a_day_of_its_own_after_a_recurring_one_is_a_date() -> None:
    assert [found.original for found in dates_in("not every Friday, but on Monday", NOW, "en")] == ["on Monday"]


@pytest.mark.parametrize(
    ("language", "sentence", "written"),
    [
        ("de", "umgebucht auf 9. bis 13. November", "umgebucht auf 2026-11-09 bis 2026-11-13"),
        ("de", "vom 9.-13. November 2025", "vom 2025-11-09 bis 2025-11-13"),
        ("en", "camp is Aug 10-14", "camp is 2026-08-10 to 2026-08-14"),
        ("en", "from 10th to 14th August", "from 2026-08-10 to 2026-08-14"),
        ("fr", "du 3 au 7 mai", "du 2026-05-03 au 2026-05-07"),
        ("es", "del 3 al 7 de mayo", "del 2026-05-03 al 2026-05-07"),
        ("en", "March 3 2027-04", "On 2027-03-03-04"),
        ("en", "see you Aug 10 to 3 of us", "see you on 2026-08-10 to 3 of us"),
        ("de", "bis 13. November", "Bis 2026-11-13"),
    ],
)
def test_the_two_days_of_a_range_are_written_out(language: str, sentence: str, written: str) -> None:
    assert with_absolute_dates(sentence, dates_in(sentence, NOW, language), language)[0] == written


@pytest.mark.parametrize(
    ("language", "sentence", "written"),
    [
        ("en", "rent is due on friday the 13th of march", "rent is due on 2026-03-13"),
        ("en", "the exam is by Friday, 13 March", "the exam is by 2026-03-13"),
        ("en", "the exam is Friday March 13", "the exam is on 2026-03-13"),
        ("en", "dentist fri. 13 march", "dentist on 2026-03-13"),
        ("en", "dentist sat, 14 march", "dentist on 2026-03-14"),
        ("en", "we wed 13 June 2020", "we wed on 2020-06-13"),
        ("en", "she sat March 3rd", "she sat on 2026-03-03"),
        ("de", "Freitag, den 13. März ist die Prüfung", "Am 2026-03-13 ist die Prüfung"),
        ("fr", "l'examen est le vendredi 13 mars", "l'examen est le 2026-03-13"),
        ("es", "el viernes, 13 de marzo, es el examen", "El 2026-03-13, es el examen"),
    ],
)
def test_a_weekday_and_its_date_are_one_day_and_verbs_that_look_like_one_stay(
    language: str, sentence: str, written: str
) -> None:
    assert with_absolute_dates(sentence, dates_in(sentence, NOW, language), language) == (written, "")


@pytest.mark.parametrize(
    ("language", "sentence", "written"),
    [
        ("de", "ich bin im letzten Monat nach Halle gezogen", "ich bin im Monat 2026-02 nach Halle gezogen"),
        ("en", "I teach from next week", "I teach from the week of 2026-03-09"),
        ("en", "I stay until next month", "I stay until 2026-04"),
        ("de", "ich arbeite ab nächster Woche", "ich arbeite ab der Woche ab 2026-03-09"),
        ("fr", "je suis à Rome depuis le mois dernier", "je suis à Rome depuis 2026-02"),
        ("es", "estoy en Lima hasta el próximo mes", "estoy en Lima hasta 2026-04"),
    ],
)
def test_a_span_has_one_preposition(language: str, sentence: str, written: str) -> None:
    assert with_absolute_dates(sentence, dates_in(sentence, NOW, language), language)[0] == written
