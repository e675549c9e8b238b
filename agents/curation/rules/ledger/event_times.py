"""The time of a memory's event after a change of its text. The days that a text names are read as in messages."""

from datetime import date, datetime
from typing import Final

from agents.models.dates.dates import dates_in
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.findings.relations import REMARK
from schemas.memories.memories import Memory

DEFAULT_LANGUAGE: Final = "en"


def event_time_after(memory: Memory, text: str, at: datetime) -> datetime | None:
    """The event's time with this new text: on the only day that it names, at the same time of day, if the day before is gone;
    None if it names no day, or several."""
    if memory.event_time is None or not loses_event_day(memory, text, at):
        return memory.event_time
    days = days_named(text, at, memory.language)
    if len(days) != 1:
        return None
    return memory.event_time + (days.pop() - memory.event_time.date())


def loses_event_day(memory: Memory, text: str, at: datetime) -> bool:
    """Whether the memory's text names the day of its event, and this new text does not."""
    if memory.event_time is None:
        return False
    day, said_at = memory.event_time.date(), memory.said_at or memory.created_at
    return day in days_named(memory.text, said_at, memory.language) and day not in days_named(text, at, memory.language)


def days_named(text: str, said_at: datetime, language: str | None) -> set[date]:
    """The days in the text, without its remark ("(said: next Friday)")."""
    text = REMARK.sub("", text)
    return {dated.day for dated in dates_in(text, said_at, language_of(text, language) or DEFAULT_LANGUAGE)}
