"""The time of a memory's event after a change of its text. Days such as "tomorrow" are read as when the memory was told."""

import re
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from agents.models.dates.calendar_days import day_or_none
from agents.models.dates.date_matches import FoundDate
from agents.models.dates.dates import dates_in
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.findings.relations import REMARK, words
from schemas.memories.memories import Memory

DEFAULT_LANGUAGE: Final = "en"
ONE_DAY: Final = timedelta(days=1)
YEAR: Final = re.compile(r"\d{4}")
BETWEEN_CLAUSES: Final = re.compile(r"[,;()]")


class NamedDay(NamedTuple):
    """A day that a text names, whether by a date, and the words of the clause around it."""

    day: date
    is_date: bool
    clause: frozenset[str]


def event_time_after(memory: Memory, text: str) -> datetime | None:
    """The event's time with this new text. If the event's day is gone, the time moves with it to the new date in a clause about
    the same; None if there is none, or several."""
    lost = lost_days(memory, text)
    if memory.event_time is None or not lost:
        return memory.event_time
    known = {each.day for each in days_named(memory, memory.text)}
    new = {
        each.day
        for each in days_named(memory, text)
        if each.is_date and each.day not in known and any(is_about_the_same(each, other) for other in lost)
    }
    if len(new) != 1:
        return None
    try:
        return memory.event_time + (new.pop() - lost[0].day)
    except OverflowError:  # outside of the years 1 to 9999
        return None


def loses_event_day(memory: Memory, text: str) -> bool:
    """Whether the memory's text names the day of its event, and this new text does not."""
    return bool(lost_days(memory, text))


def lost_days(memory: Memory, text: str) -> list[NamedDay]:
    """Where the memory's text names the day of its event; empty if it does not, or if this new text names it, too."""
    if memory.event_time is None:
        return []
    event, named = memory.event_time.date(), days_named(memory, memory.text)
    day = min((each.day for each in named), key=lambda each: abs(each - event), default=None)
    # The event's time is in UTC: its day there may be the one before or after the day where it takes place.
    if day is None or abs(day - event) > ONE_DAY or any(each.day == day for each in days_named(memory, text)):
        return []
    return [each for each in named if each.day == day]


def days_named(memory: Memory, text: str) -> list[NamedDay]:
    """The days in a text of the memory, without its remark ("(said: next Friday)")."""
    text = REMARK.sub("", text)
    said_at, language = memory.said_at or memory.created_at, language_of(text, memory.language) or DEFAULT_LANGUAGE
    event = (memory.event_time or said_at).date()
    return [
        NamedDay(day_near(event, each), not each.relative, clause_around(each, text))
        for each in dates_in(text, said_at, language)
    ]


def day_near(event: date, found: FoundDate) -> date:
    """The day; of a date without a year the one nearest to the event."""
    if found.relative or YEAR.search(found.original):
        return found.day
    days = (day_or_none(event.year + years, found.day.month, found.day.day) for years in (-1, 0, 1))
    return min((day for day in days if day is not None), key=lambda day: abs(day - event), default=found.day)


def clause_around(found: FoundDate, text: str) -> frozenset[str]:
    before, after = BETWEEN_CLAUSES.split(text[: found.start])[-1], BETWEEN_CLAUSES.split(text[found.end :])[0]
    return words(f"{before} {after}")


def is_about_the_same(one: NamedDay, other: NamedDay) -> bool:
    """Whether the clauses of two days share a word with content: "(result of 2026-06-01)" is not about the exam."""
    return one.clause == other.clause or not one.clause.isdisjoint(other.clause)
