"""Dates in sentences, said on Monday 2026-03-02 at 10:00 in Berlin unless told otherwise."""

from datetime import UTC, date, datetime

import pytest

from agents.models.dates.dates import dates_in, event_time, local, with_dates
from tests.dated_sentences import NO_DATES, RESOLVED
from tests.slices import BERLIN, MONDAY

NOW = local(MONDAY, BERLIN)


@pytest.mark.parametrize(("language", "sentence", "day"), RESOLVED)
def test_date_is_resolved_against_the_message(language: str, sentence: str, day: date) -> None:
    assert [found.day for found in dates_in(sentence, NOW, language)] == [day]


@pytest.mark.parametrize("sentence", NO_DATES)
def test_what_is_no_single_day_is_no_date(sentence: str) -> None:
    assert dates_in(sentence, NOW, "en") == []


def test_day_is_the_speakers_and_not_utcs() -> None:
    late = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    assert dates_in("I fly tomorrow", local(late, "Asia/Tokyo"), "en")[0].day == date(2026, 3, 4)
    assert dates_in("I fly tomorrow", local(late, "America/Lima"), "en")[0].day == date(2026, 3, 3)


def test_unknown_time_zone_leaves_the_offset_of_the_timestamp() -> None:
    assert local(MONDAY, "Mars/Olympus") == MONDAY


def test_last_day_of_a_month_is_kept_within_the_next() -> None:
    january = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
    assert dates_in("in a month", january, "en")[0].day == date(2026, 2, 28)


def test_relative_date_is_written_out_and_quoted() -> None:
    sentence = "User flies next Friday"
    assert with_dates(sentence, dates_in(sentence, NOW, "en"), "en") == (
        "User flies on 2026-03-06",
        " (said: next Friday)",
    )


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("10 years ago", "In 2016"),
        ("two weeks ago", "In the week of 2026-02-16"),
        ("the other day", "A few days before 2026-03-02"),
        ("in a couple of months", "A couple of months after 2026-03-02"),
        ("next winter", "In the winter of 2026"),
    ],
)
def test_date_is_written_no_more_exactly_than_it_was_said(sentence: str, written: str) -> None:
    assert with_dates(sentence, dates_in(sentence, NOW, "en"), "en")[0] == written


def test_absolute_date_is_written_out_without_a_quotation() -> None:
    sentence = "moved from March 3rd to 1 April"
    assert with_dates(sentence, dates_in(sentence, NOW, "en"), "en") == ("moved from 2026-03-03 to 2026-04-01", "")


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
