"""Finds the dates of a sentence and resolves them against the time of the message, in the speaker's time zone.

Hand-written instead of a general date parser: "may", "sun" and "in a second" must not become dates, and a sentence must take
microseconds.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import structs

from agents.models.dates.date_matches import LOOK_BACK_CHARS, FoundDate, date_pattern, resolved_date
from agents.models.dates.day_ranges import day_range
from agents.models.dates.words import CLOCK, ONE_WEEK, RECURRING, SAID_LABEL

# Words between the two days of a period: "from Monday to Thursday".
TO_WHEN = re.compile(r"\s*(?:to|until|till|through|bis(?: zum)?|-|–)\s*", re.IGNORECASE)
# Words between recurring days: "every Tuesday and Friday".
LISTED = re.compile(r"\s*(?:[,&/+]|,? ?\b(?:and|or|und|oder|sowie|et|ou|y|o)\b)\s*", re.IGNORECASE)


def local(moment: datetime, time_zone: str | None) -> datetime:
    """The moment in the speaker's time zone. Without a valid zone the timestamp's own offset stays. Never raises."""
    try:
        return moment.astimezone(ZoneInfo(time_zone)) if time_zone else moment
    # A zone is a file name: a directory ("Europe") and a name that is too long raise OSError.
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
        return moment


def dates_in(sentence: str, said_at: datetime, language: str) -> list[FoundDate]:
    """The dates in order, without recurring ones ("every Friday", "works from Monday to Thursday"). `said_at` is in the
    speaker's time zone."""
    found: list[FoundDate] = []
    in_one_week: bool | None = None
    recurred = -1  # the end of the latest recurring date
    for match in date_pattern(language).finditer(sentence):
        if recurrence_pattern(language).search(sentence, max(0, match.start() - LOOK_BACK_CHARS), match.start()) or (
            recurred >= 0 and " " not in match[0] and LISTED.fullmatch(sentence, recurred, match.start())
        ):
            recurred = match.end()
            continue
        dated = resolved_date(match, said_at.date(), language)
        if dated is None:
            continue
        dated = with_range(dated, sentence, language)
        if not found or not is_period(found[-1], dated, sentence):
            found.append(dated)
            continue
        in_one_week = is_in_one_week(sentence, language) if in_one_week is None else in_one_week
        first = found[-1] if in_one_week else found.pop()
        if in_one_week and first.day <= date.max - timedelta(days=7):
            found.append(moved_to(dated, first.day + timedelta(days=(dated.day - first.day).days % 7)))
    return found


def with_range(dated: FoundDate, sentence: str, language: str) -> FoundDate:
    """The date, or the whole range of days if the date begins or ends one."""
    days = None if dated.relative else day_range(sentence, dated.start, dated.end, dated.day, language)
    if days is None:
        return dated
    lead = dated.written.split(" ")[0]
    written = (
        f"{lead} {days.written}" if dated.start == days.start and lead in ("from", "since", "ab") else days.written
    )
    return structs.replace(
        dated,
        start=days.start,
        end=days.end,
        original=sentence[days.start : days.end],
        written=written,
        day=days.first,
        days=(days.last - days.first).days + 1,
    )


def is_period(first: FoundDate, last: FoundDate, sentence: str) -> bool:
    """Whether two weekdays are a period: "from Monday to Thursday"."""
    between = sentence[first.end : last.end - len(last.original.split()[-1])]
    return first.bare and last.bare and TO_WHEN.fullmatch(between) is not None


def is_in_one_week(sentence: str, language: str) -> bool:
    """Whether a period of weekdays is in a single week ("I'm away from Monday to Thursday"); working hours recur each week."""
    return re.search(ONE_WEEK[language], sentence, re.IGNORECASE) is not None


def with_absolute_dates(sentence: str, found: list[FoundDate], language: str) -> tuple[str, str]:
    """The sentence with absolute dates, and a remark in brackets that quotes the relative dates; empty without relative ones."""
    parts, done = [], 0
    for dated in found:
        written = dated.written if dated.start else dated.written[:1].upper() + dated.written[1:]
        parts += [sentence[done : dated.start], written]
        done = dated.end
    said = "; ".join(dated.original for dated in found if dated.relative)
    return "".join(parts) + sentence[done:], f" ({SAID_LABEL[language]}: {said})" if said else ""


def event_time(day: date, sentence: str, said_at: datetime, language: str) -> datetime | None:
    """The moment of a day in UTC, with the sentence's time of day. Without one it is noon in the speaker's zone, so that the date
    is the same in UTC (zones from -11 to +12). None at the limits of the years 1 and 9999."""
    clock = clock_pattern(language).search(sentence)
    hour, minute = (12, 0) if clock is None else hour_of(clock)
    try:
        return datetime.combine(day, time(hour, minute), said_at.tzinfo).astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def hour_of(clock: re.Match[str]) -> tuple[int, int]:
    """The hour and minute of a time of day; noon for an impossible one."""
    hour, minute = int(clock["hour"]), int(clock["minute"] or 0)
    half = (clock.groupdict().get("half") or "").replace(".", "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else (12, 0)


def a_week_earlier(dated: FoundDate) -> FoundDate:
    """The same weekday a week earlier: a weekday alone means the next one, but the latest one in a statement about the past."""
    return moved_to(dated, dated.day - timedelta(days=7))


def moved_to(dated: FoundDate, day: date) -> FoundDate:
    return structs.replace(dated, day=day, written=dated.written.replace(dated.day.isoformat(), day.isoformat()))


@cache
def recurrence_pattern(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{RECURRING[language]})$", re.IGNORECASE)


@cache
def clock_pattern(language: str) -> re.Pattern[str]:
    return re.compile(CLOCK[language], re.IGNORECASE)
