"""Reads two days of one month as a range: "9. bis 13. November", "Aug 10-14"."""

import re
from datetime import date
from typing import Final, NamedTuple

from agents.models.dates.calendar_days import day_or_none

TO: Final = {"en": "to", "de": "bis", "fr": "au", "es": "al"}
BETWEEN: Final = r"(?:\s*[-–]\s*|\s+(?:to|till|through|bis(?:\s+zum)?|au|al)\s+)"
ORDINAL: Final = r"(?:\.|st|nd|rd|th|er)?"
LEAD: Final = re.compile(r"bis(?: zum)? ", re.IGNORECASE)  # the pattern of a day includes it
BEFORE: Final = re.compile(rf"(?:\bthe )?(?<![\d.:/-])(?P<day>\d{{1,2}}){ORDINAL}(?P<to>{BETWEEN})?\s*$", re.IGNORECASE)
RANGE_START: Final = re.compile(
    rf"(?:the )?\d{{1,2}}{ORDINAL}{BETWEEN}", re.IGNORECASE
)  # of a range that names the month last
AFTER: Final = re.compile(rf"{BETWEEN}(?P<day>\d{{1,2}}){ORDINAL}(?![\w:./-])(?! ?(?:am|pm|uhr|h)\b)", re.IGNORECASE)
ENDS_WITH_DAY: Final = re.compile(rf"(?<!\d)\d{{1,2}}{ORDINAL}$", re.IGNORECASE)  # not with a year
LOOK_BACK_CHARS: Final = 16


class DayRange(NamedTuple):
    """A range of days, and its place in the sentence."""

    start: int
    end: int
    first: date
    last: date
    written: str


def day_range(sentence: str, start: int, end: int, day: date, language: str) -> DayRange | None:
    """The range that a day at this place begins or ends; None if there is no other day of the month beside it."""
    first: date | None
    last: date | None
    look_from = max(0, start - LOOK_BACK_CHARS)
    before = BEFORE.search(sentence[look_from:start])
    if before is not None and (before["to"] or LEAD.match(sentence, start)):
        first, last, start = other_day(day, before["day"]), day, look_from + before.start()
    elif (after := AFTER.match(sentence, end)) is not None and ENDS_WITH_DAY.search(sentence[start:end]):
        first, last, end = day, other_day(day, after["day"]), after.end()
    else:
        return None
    if first is None or last is None or first >= last:
        return None
    return DayRange(start, end, first, last, f"{first.isoformat()} {TO[language]} {last.isoformat()}")


def other_day(day: date, number: str) -> date | None:
    return day_or_none(day.year, day.month, int(number))
