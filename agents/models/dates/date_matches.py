"""Resolves one match of a date in a sentence against the day of the message."""

import re
from datetime import date, timedelta
from functools import cache

from msgspec import Struct

from agents.models.dates.calendar_days import calendar_day, day_or_none, first_of, season, shifted, weekday
from agents.models.dates.words import (
    ABBREVIATIONS,
    AFTER,
    AFTER_LIMITING,
    BEFORE,
    DAYS_AWAY,
    DURATION,
    LAST,
    MONTHS,
    NEXT,
    NUMBERS,
    ON,
    ONES,
    PHRASES,
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
# Prepositions before a span that take no other behind them: "from the week of 2026-03-09".
LIMITING = frozenset(
    "from until till by since before after ab bis seit vor nach depuis dès desde hasta".split()  # noqa: SIM905
)
# Words before a day that is over: "since Monday", "depuis le 3 octobre".
SINCE_WHEN = re.compile(r"\b(?:since|seit|depuis|desde)(?: (?:the|dem|le|el))?\s*$", re.IGNORECASE)
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
        written = after_preposition(preposition_before(match), written, language)
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


def follows_since(match: re.Match[str], lead: str) -> bool:
    """Whether "since" or a synonym precedes the day, or is the preposition in its match."""
    look_from = max(0, match.start() - LOOK_BACK_CHARS)
    return SINCE_WHEN.search(f"{match.string[look_from : match.start()]}{lead}") is not None


def follows_preposition(match: re.Match[str]) -> bool:
    look_from = max(0, match.start() - LOOK_BACK_CHARS)
    return AFTER_PREPOSITION.search(match.string, look_from, match.start()) is not None


def after_preposition(preposition: str, written: str, language: str) -> str:
    """The span without a preposition that the one before it repeats or excludes."""
    if preposition in LIMITING:
        left = AFTER_LIMITING[language]
        lead = next((each for each in left if written.startswith(each)), "")
        return f"{left.get(lead, '')}{written.removeprefix(lead)}"
    return written.removeprefix(f"{preposition} ")


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
