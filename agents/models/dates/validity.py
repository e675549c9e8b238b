"""Finds the period in which a statement is valid: "until March", "from June on", "starting 2026-06-01".

"Until" a day includes the day; "until" a month ends when the month begins, "through" a month when it is over.
Recurring times ("every March") and single events give no validity.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final

from msgspec import Struct

from agents.models.dates.calendar_days import day_or_none
from agents.models.dates.date_matches import FoundDate
from agents.models.dates.dates import dates_in
from agents.models.dates.day_ranges import RANGE_START
from agents.models.dates.words import MONTHS

UNTIL, SINCE = "until", "since"
# Words before a time; only articles, "the end of" or "around" may be between.
LEADS: Final = {
    "en": {
        UNTIL: r"from [\w ]{3,20} to|until|till|til|'til|through|up to|runs out|expires?|ends?",
        SINCE: r"from|since|starting|as of|beginning|effective",
    },
    "de": {UNTIL: r"bis|läuft ab|endet", SINCE: r"ab|seit"},
    "fr": {UNTIL: r"jusqu'(?:à|au|en)|jusque|expire|prend fin", SINCE: r"à partir d[eu']|dès|depuis"},
    "es": {UNTIL: r"hasta|vence|termina|caduca", SINCE: r"a partir del?|desde"},
}
BETWEEN: Final = (
    r"(?: ?(?:in|on|by|zum|zur|dem|der|den|am|im|le|la|l'|el|de|del|the|mid|early|late|around|about|about the|mes de))*"
)
ENDS: Final = {
    "en": r"end of",
    "de": r"ende|einschließlich|inklusive",
    "fr": r"fin",
    "es": r"finales de|fin de|final de",
}
# Words that include the time, before or behind it.
THROUGH: Final = re.compile(r"through\b", re.IGNORECASE)
INCLUSIVE: Final = re.compile(r"\W*(?:inclusive|inclusively|einschließlich|inklusive|inclus|compris)\b", re.IGNORECASE)
# Verbs of states that begin, or began, on the named day.
BEGINS: Final = {
    "en": (
        r"mov(?:e|es|ed|ing) (?:in|to|from|back)|start(?:s|ed|ing)?|begin(?:s|ning)?|began|join(?:s|ed|ing)?"
        r"|retir(?:e|es|ed|ing)|relocat\w+|switch\w*"
    ),
    "de": r"(?:um|aus|ein)?(?:ziehe\w*|gezogen)|fange|anfange|beginne\w*|starte\w*|wechs\w+",
    "fr": r"(?:em|dé)ménag\w*|commenc\w*|rejoin\w*",
    "es": r"mud\w*|empiez\w*|empec\w*|empez\w*|comienz\w*",
}
BEGAN: Final = {
    "en": r"moved|started|began|joined|retired|relocated|switched",
    "de": r"\w*gezogen|fing|begann|anfing|\w*gewechselt",
    "fr": r"(?:em|dé)ménagé\w*|commencé|rejoint",
    "es": r"mud[éó]|mudamos|empecé|empezó|comencé|comenzó",
}
# Verbs of past states.
WAS: Final = {
    "en": r"(?:I|we) (?:\w+ )?(?:lived|worked|studied|rented|stayed|taught|was (?:in|at|based|an?))",
    "de": r"(?:wohnte|lebte|arbeitete|studierte|war (?:in|bei))",
    "fr": r"(?:habitais|vivais|travaillais|étudiais|étais|avais)",
    "es": r"(?:vivía|viví|trabajaba|trabajé|estudiaba|estudié|estaba|tenía)",
}


class Validity(Struct, frozen=True):
    """Moments in UTC; None if the sentence does not name them."""

    valid_from: datetime | None = None
    valid_until: datetime | None = None


class TimeSpan(Struct, frozen=True):
    """A time in a sentence: its place, its first day, the day after its last one, and whether it is a weekday alone."""

    start: int
    end: int
    first: date
    after: date
    weekday: bool = False


def validity(sentence: str, said_at: datetime, language: str) -> Validity:
    """The validity by the words before each of the sentence's times. `said_at` is in the speaker's time zone."""
    found: dict[str, date] = {}
    times = times_in(sentence, said_at, language)
    for each in times:
        for end in (UNTIL, SINCE):
            lead = lead_pattern(end, language).search(sentence[: each.start])
            if lead is not None and end not in found:
                found[end] = a_year_earlier_if_ahead(lead[0], each, said_at.date()) or bound_of(
                    each, end, includes_whole_time(lead, each, sentence) or each.first <= said_at.date()
                )
    if not found and times:
        found = implied_bounds(sentence, times, said_at.date(), language)
    return Validity(midnight(found.get(SINCE), said_at), midnight(found.get(UNTIL), said_at))


def a_year_earlier_if_ahead(lead: str, each: TimeSpan, today: date) -> date | None:
    """The first day a year earlier for a future time after "since" ("since October", said in May); None for other times."""
    if not lead.lower().startswith(("since", "seit", "depuis", "desde")) or each.first <= today:
        return None
    return day_or_none(each.first.year - 1, each.first.month, each.first.day)


def includes_whole_time(lead: re.Match[str], each: TimeSpan, sentence: str) -> bool:
    """Whether the words before or after a time include all of it: "until the end of March", "through March", "jusqu'en mars
    inclus"."""
    behind = INCLUSIVE.match(sentence, each.end) is not None
    return lead["ends"] is not None or THROUGH.match(lead[0]) is not None or behind


def bound_of(each: TimeSpan, end: str, to_the_end: bool) -> date:
    """The day of the bound `end` (UNTIL or SINCE). "Until March" ends on March 1; "until the end of March" and "until March 20"
    end after the last day."""
    is_day = each.after - each.first == timedelta(days=1)
    return each.after if end == UNTIL and (is_day or to_the_end) else each.first


def start_of(each: TimeSpan, sentence: str, language: str) -> date:
    """The first day of a time, or the last one after "the end of"."""
    at_the_end = end_pattern(language).search(sentence[: each.start]) is not None
    return each.after - timedelta(days=1) if at_the_end else each.first


def implied_bounds(sentence: str, times: list[TimeSpan], today: date, language: str) -> dict[str, date]:
    """The validity without "until" or "since": of changes that begin on a day, and of past states in a past time."""
    last = times[-1]
    if word_pattern(BEGAN[language]).search(sentence) and last.first > today:
        a_year_earlier = day_or_none(last.first.year - 1, last.first.month, last.first.day)
        is_weekday = last.weekday and last.first >= date.min + timedelta(days=7)
        begun = last.first - timedelta(days=7) if is_weekday else a_year_earlier
        return {SINCE: begun} if begun else {}
    if word_pattern(BEGINS[language]).search(sentence):
        return {SINCE: start_of(last, sentence, language)}
    longer = last.after - last.first > timedelta(days=1)
    if longer and last.after <= today and word_pattern(WAS[language]).search(sentence):
        return {SINCE: last.first, UNTIL: last.after}
    return {}


def times_in(sentence: str, said_at: datetime, language: str) -> list[TimeSpan]:
    """Days, and months and years that stand alone, in order."""
    dated = dates_in(sentence, said_at, language)
    times = [range_time(each) or time_of(each, language) for each in dated]
    taken = [range(each.start, each.end) for each in dated]
    for match in month_or_year_pattern(language).finditer(sentence):
        if not any(match.start("time") in span or match.end() - 1 in span for span in taken):
            times += month_or_year(match, said_at.date(), language)
    return sorted(times, key=lambda each: each.start)


def time_of(each: FoundDate, language: str) -> TimeSpan:
    after = each.day + timedelta(days=1 if is_day_range(each) else each.days)
    return TimeSpan(without_lead(each, language), each.end, each.day, after, each.bare)


def range_time(each: FoundDate) -> TimeSpan | None:
    """The last day of "from the 5th to 19 April", at its place; None for other dates."""
    first = RANGE_START.match(each.original) if is_day_range(each) else None
    if first is None:
        return None
    last = each.day + timedelta(days=each.days - 1)
    return TimeSpan(each.start + first.end(), each.end, last, last + timedelta(days=1))


def is_day_range(each: FoundDate) -> bool:
    return each.days > 1 and not each.relative


def without_lead(dated: FoundDate, language: str) -> int:
    """The place of a date without the preposition, such as "until", that its match begins with."""
    leads = "|".join((*LEADS[language].values(), "on", "by", "am", "le", "el"))
    lead = re.match(rf"(?:{leads})\b(?: dem| zum| le)? ", dated.original, re.IGNORECASE)
    return dated.start + (lead.end() if lead else 0)


def month_or_year(match: re.Match[str], today: date, language: str) -> list[TimeSpan]:
    """The month or year of a match; empty outside of the years 1 to 9999."""
    if match["month"] is None:
        year = int(match["year_alone"])
        return [TimeSpan(match.start("time"), match.end(), date(year, 1, 1), date(year + 1, 1, 1))]
    month = MONTHS[language].split().index(match["month"].lower()) + 1
    year = int(match["year"]) if match["year"] else nearest_year(month, today)
    first = day_or_none(year, month, 1)
    after = day_or_none(year + month // 12, month % 12 + 1, 1)
    return [TimeSpan(match.start("time"), match.end(), first, after)] if first and after else []


def nearest_year(month: int, today: date) -> int:
    """The year of a month without a year: this or the next month of that name."""
    return today.year if month >= today.month else today.year + 1


@cache
def month_or_year_pattern(language: str) -> re.Pattern[str]:
    months = MONTHS[language].replace(" ", "|")
    return re.compile(
        rf"\b(?P<time>(?P<month>{months})\b(?:,? (?:de )?(?P<year>(?:19|20)\d\d))?"
        rf"|(?<=[a-zäöüéàí] )(?P<year_alone>(?:19|20)\d{{2}}))(?![\d.,:]*\d)(?! ?(?:%|€|\$|euros?|people|\d))",
        re.IGNORECASE,
    )


@cache
def lead_pattern(end: str, language: str) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{LEADS[language][end]}){BETWEEN}(?P<ends> ?(?:{ENDS[language]}))?{BETWEEN} ?$", re.IGNORECASE
    )


@cache
def end_pattern(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{ENDS[language]}){BETWEEN} ?$", re.IGNORECASE)


@cache
def word_pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


def midnight(day: date | None, said_at: datetime) -> datetime | None:
    """The beginning of the day in the speaker's time zone, in UTC."""
    if day is None:
        return None
    try:
        return datetime.combine(day, time(), said_at.tzinfo).astimezone(UTC)
    except (OverflowError, ValueError):
        return None
