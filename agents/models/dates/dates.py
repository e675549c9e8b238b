"""Finds the dates of a sentence and resolves them against the time of the message, in the speaker's time zone.

Hand-written instead of a general date parser: "may", "sun" and "in a second" must not become dates, and a sentence must take
microseconds.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct, structs

from agents.models.dates.calendar_days import calendar_day, day_or_none, first_of, season, shifted, weekday
from agents.models.dates.day_ranges import day_range
from agents.models.dates.words import (
    ABBREVIATIONS,
    AFTER,
    BEFORE,
    CLOCK,
    DAYS_AWAY,
    DURATION,
    LAST,
    MONTHS,
    NEXT,
    NUMBERS,
    ON,
    ONE_WEEK,
    ONES,
    PHRASES,
    RECURRING,
    SAID_LABEL,
    SEASONS,
    UNITS,
    WEEKDAYS,
    WITHIN,
)

ISO = (
    r"(?:(?P<lead>on|by|until|before|after|from|since|starting|am|bis|ab|le|el) )?"
    r"(?P<iso>\d{4}-\d{2}-\d{2})(?!T)"
)
AFTER_PREPOSITION = re.compile(
    r"\b(?:to|for|of|from|until|by|since|before|after|around|für|zum|von|vom|den|dem|bis|du|au|del|al"
    r"|para)\s$",
    re.IGNORECASE,
)
# Words before a day that is over: "since Monday", "depuis le 3 octobre".
SINCE_WHEN = re.compile(r"\b(?:since|seit|depuis|desde)(?: (?:the|dem|le|el))?\s*$", re.IGNORECASE)
# Words between the two days of a period: "from Monday to Thursday".
TO_WHEN = re.compile(r"\s*(?:to|until|till|through|bis(?: zum)?|-|–)\s*", re.IGNORECASE)
# Words between recurring days: "every Tuesday and Friday".
LISTED = re.compile(r"\s*(?:[,&/+]|,? ?\b(?:and|or|und|oder|sowie|et|ou|y|o)\b)\s*", re.IGNORECASE)
# Characters before a date that are searched for words that change its meaning ("every other", "depuis").
LOOK_BACK_CHARS = 24
LENGTH_IN_DAYS = {"day": 1, "week": 7, "weekend": 2, "month": 30, "year": 365} | dict.fromkeys(SEASONS, 91)
COUNT_OF_FEW = 3
# Letters that match i or s without case, but that `lower` does not convert.
ODD_CASES = str.maketrans({"İ": "i", "ı": "i", "ſ": "s"})


class FoundDate(Struct, frozen=True):
    """A date in a sentence: its place, its `original` text, the absolute text `written` that replaces it, and whether it is
    `relative`.

    `day` is its first day, `days` its length: of a day, a week, a season. `bare`: a weekday alone.
    """

    start: int
    end: int
    original: str
    written: str
    day: date
    relative: bool
    bare: bool
    days: int = 1


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


def resolved_date(match: re.Match[str], today: date, language: str) -> FoundDate | None:
    words = {name: value.translate(ODD_CASES).lower() for name, value in matched_groups(match).items()}
    if "ahead" in words and is_duration(match, language):
        return None
    try:
        day = day_of(words, today, language)
        if day is not None and day > today and follows_since(match, words.get("lead", "")):
            day = before_today(day, words)
    except (OverflowError, ValueError):  # outside of the years 1 to 9999
        return None
    if day is None:
        return None
    unit = UNITS.get(words.get("span") or words.get("unit", "day"), "day")
    lead = words.get("lead") or ("" if follows_preposition(match) else ON[language])
    if "some" in words:
        written = vague_date(words, today, language)
    elif unit == "day":
        written = f"{lead} {day.isoformat()}".lstrip()
    else:
        written = written_span(unit, day if "span" in words else first_of(day, unit), language)
        written = written.removeprefix(f"{preposition_before(match)} ")
    absolute = "iso" in words or "day" in words
    bare = "weekday" in words and "which" not in words
    return FoundDate(match.start(), match.end(), match[0], written, day, not absolute, bare, LENGTH_IN_DAYS[unit])


def before_today(day: date, words: dict[str, str]) -> date:
    """The same weekday a week earlier, or the same day without a year a year earlier; other days are unchanged."""
    if "weekday" in words:
        return day - timedelta(days=7)
    return day_or_none(day.year - 1, day.month, day.day) or day if "day" in words and "year" not in words else day


def is_duration(match: re.Match[str], language: str) -> bool:
    """Whether "in two weeks" names a duration, not a date."""
    before = match.string[max(0, match.start() - LOOK_BACK_CHARS) : match.start()]
    return language in DURATION and re.search(DURATION[language], before, re.IGNORECASE) is not None


def vague_date(words: dict[str, str], today: date, language: str) -> str:
    """The text of a date that names no day: "a few days before 2026-03-02"."""
    some = (
        words["some"].replace("several", "few").removeprefix("the other").removeprefix("a ").removesuffix("s").strip()
    )
    some = f"few {some}" if " " not in some else some
    return f"a {some}s {(BEFORE if 'ago' in words else AFTER)[language]} {today.isoformat()}"


def a_week_earlier(dated: FoundDate) -> FoundDate:
    """The same weekday a week earlier: a weekday alone means the next one, but the latest one in a statement about the past."""
    return moved_to(dated, dated.day - timedelta(days=7))


def moved_to(dated: FoundDate, day: date) -> FoundDate:
    return structs.replace(dated, day=day, written=dated.written.replace(dated.day.isoformat(), day.isoformat()))


def follows_since(match: re.Match[str], lead: str) -> bool:
    """Whether "since" or a synonym precedes the day, or is the preposition in its match."""
    look_from = max(0, match.start() - LOOK_BACK_CHARS)
    return SINCE_WHEN.search(f"{match.string[look_from : match.start()]}{lead}") is not None


def follows_preposition(match: re.Match[str]) -> bool:
    look_from = max(0, match.start() - LOOK_BACK_CHARS)
    return AFTER_PREPOSITION.search(match.string, look_from, match.start()) is not None


def preposition_before(match: re.Match[str]) -> str:
    """The word before the date in lower case; empty at the beginning of a sentence."""
    before = match.string[max(0, match.start() - LOOK_BACK_CHARS) : match.start()].split(" ")
    return before[-2].lower() if len(before) > 1 else ""


def day_of(words: dict[str, str], today: date, language: str) -> date | None:
    if "iso" in words:
        return day_or_none(*(int(part) for part in words["iso"].split("-")))
    if "day" in words:
        return calendar_day(words, today, language)
    if "away" in words:
        return today + timedelta(days=DAYS_AWAY[words["away"]])
    if "weekday" in words:
        name = ABBREVIATIONS.get(language, {}).get(words["weekday"], words["weekday"])
        return weekday(WEEKDAYS[language].split().index(name), words.get("which", ""), today)
    if "count" in words or "some" in words:
        count = number_of(words["count"], language) if "count" in words else COUNT_OF_FEW
        return shifted(today, UNITS[words["unit"]], -count if "ago" in words else count)
    step = 1 if words["which"] in NEXT else -1 if words["which"] in LAST else 0
    unit = UNITS[words["span"]]
    return season(unit, step, today) if unit in SEASONS else first_of(shifted(today, unit, step), unit)


def written_span(unit: str, day: date, language: str) -> str:
    shown = day.isoformat() if unit in ("week", "weekend") else f"{day:%Y-%m}" if unit == "month" else f"{day:%Y}"
    return f"{WITHIN[language][unit]} {shown}"


def number_of(word: str, language: str) -> int:
    if word.isdigit():
        return int(word)
    return ONES.get(word) or NUMBERS[language].split().index(word) + 1


def matched_groups(match: re.Match[str]) -> dict[str, str]:
    """The matched groups by name, without the number of the alternative."""
    return {name.rstrip("0123456789"): value for name, value in match.groupdict().items() if value is not None}


@cache
def date_pattern(language: str) -> re.Pattern[str]:
    short = ABBREVIATIONS.get(language, {})
    words = {
        name: table[language].split() for name, table in (("weekday", WEEKDAYS), ("month", MONTHS), ("number", NUMBERS))
    }
    words |= {
        f"short_{name}": [each for each, full in short.items() if full in words[name]] for name in ("weekday", "month")
    }
    forms = [ISO, *PHRASES[language]]
    for name, listed in words.items():
        forms = [form.replace("{" + name + "}", "|".join(listed)) for form in forms]
    numbered = [re.sub(r"\?P<(\w+)>", rf"?P<\g<1>{index}>", form) for index, form in enumerate(forms)]
    return re.compile(r"\b(?:" + "|".join(numbered) + r")\b", re.IGNORECASE)


@cache
def recurrence_pattern(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{RECURRING[language]})$", re.IGNORECASE)


@cache
def clock_pattern(language: str) -> re.Pattern[str]:
    return re.compile(CLOCK[language], re.IGNORECASE)
