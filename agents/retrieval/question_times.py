"""Finds the times that a question names ("in March", "last summer", "two weeks ago", a date), as time spans. English, by
rules; of German, French and Spanish what `agents.models.dates` reads: days with a month, weekdays, relative days. Pure."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from agents.models.dates import words
from agents.models.dates.date_matches import FoundDate
from agents.models.dates.dates import dates_in

Span: TypeAlias = tuple[datetime, datetime]

BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
DAY: Final = timedelta(days=1)
MONTHS: Final = tuple(words.MONTHS["en"].split())
SEASONS: Final = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}
NUMBERS: Final = {
    **{word: number for number, word in enumerate(words.NUMBERS["en"].split(), start=1)},
    **{"a": 1, "an": 1, "couple of": 2, "few": 3, "several": 3},
}

DAYS_OF: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
NAMED_MONTH: Final = rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
DAY_NUMBER: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
YEAR_NUMBER: Final = r"(?P<year>(?:19|20)\d\d)"
BEFORE_MONTHS: Final = (
    *("in", "during", "of", "since", "before", "after", "until", "by"),
    *("last", "this", "early", "mid", "late"),
)
AFTER_WORD: Final = "|".join(rf"(?<=\b{word} )" for word in BEFORE_MONTHS)

ISO: Final = re.compile(rf"\b{YEAR_NUMBER}-(?P<month>\d\d)-(?P<day>\d\d)\b")
DOTTED: Final = re.compile(rf"\b(?P<day>\d?\d)\.(?P<month>\d?\d)\.{YEAR_NUMBER}\b")
SLASHED: Final = re.compile(rf"\b(?P<month>\d?\d)/(?P<day>\d?\d)/{YEAR_NUMBER}\b")
DAY_MONTH: Final = re.compile(rf"\b{DAY_NUMBER}(?: of)? {NAMED_MONTH}(?:,? {YEAR_NUMBER})?(?!\w)")
MONTH_DAY: Final = re.compile(rf"\b{NAMED_MONTH} (?:the )?{DAY_NUMBER}(?!\d)(?:,? {YEAR_NUMBER})?(?!\w)")
MONTH: Final = re.compile(
    rf"\b(?:(?:{AFTER_WORD}){NAMED_MONTH}(?:,? {YEAR_NUMBER})?"
    rf"|{NAMED_MONTH.replace('month', 'month_of_year')},? {YEAR_NUMBER.replace('year', 'with_year')})(?!\w)"
)
MONTHS_BETWEEN: Final = re.compile(
    rf"\b(?:between|from) {NAMED_MONTH}(?:,? {YEAR_NUMBER})? (?:and|to|until|till|through) "
    rf"{NAMED_MONTH.replace('month', 'last_month')}(?:,? {YEAR_NUMBER.replace('year', 'last_year')})?(?!\w)"
)
AGO: Final = re.compile(rf"\b(\d{{1,3}}|{'|'.join(NUMBERS)}) (day|week|month|year)s? (?:ago|before now|back)\b")
LAST: Final = re.compile(r"\b(?:last|past) (week|month|year)\b")
SEASON: Final = re.compile(rf"\b(last|this|in|the|over the) ({'|'.join(SEASONS)})\b(?: of)?(?: {YEAR_NUMBER})?")
YEAR: Final = re.compile(rf"(?:{AFTER_WORD}){YEAR_NUMBER}\b")
# Words before a time that make a span up to it, or from it on. "Shortly before 3 June" and "the day before 3 June" are near it.
BOUND: Final = re.compile(
    r"(?P<distance>\b(?:(?:day|night|week|month|year)s?|shortly|just|right|soon) )?"
    r"\b(?P<bound>since|after|before|until) (?:the )?$"
)
LEAD: Final = re.compile(r"(?:since|after|before|until) ")
LOOK_BACK_CHARS: Final = 24

Rule: TypeAlias = Callable[[re.Match[str], datetime], Span]


def spans(question: str, asked_at: datetime) -> list[Span]:
    """Spans from (inclusive) to (exclusive). A day, month or season without a year is the latest one that has begun. Of
    nested expressions the narrowest counts: "3 March" is that day, not all of March."""
    text, found = question.lower(), list[Span]()
    for pattern, rule in RULES:
        for match in pattern.finditer(text):
            with suppress(ValueError, OverflowError):  # such as 31 February, or the year 0
                found.append(bounded(rule(match, asked_at), bound(text, match.start()), asked_at))
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    found += (span for language in words.MONTHS for span in relative_days(text, asked_at, language))
    return list(dict.fromkeys(found))


def relative_days(text: str, asked_at: datetime, language: str) -> Iterator[Span]:
    """ "Yesterday", "last Friday"; a weekday alone is the latest one that has begun."""
    for dated in dates_in(text, asked_at, language):
        with suppress(OverflowError):  # outside of the years 1 to 9999
            yield relative_day(text, dated, asked_at)


def relative_day(text: str, dated: FoundDate, asked_at: datetime) -> Span:
    lead = LEAD.match(text, dated.start)
    word = bound(text, lead.end() if lead else dated.start)
    start = datetime(dated.day.year, dated.day.month, dated.day.day, tzinfo=UTC)
    is_ahead = dated.bare and dated.day > asked_at.date()
    if is_ahead and word not in ("before", "until"):  # "before Friday": the next one
        start -= timedelta(days=7)
    return bounded((start, start + dated.days * DAY), word, asked_at)


def bound(text: str, start: int) -> str | None:
    """The word before a time that makes it a bound."""
    found = BOUND.search(text[max(0, start - LOOK_BACK_CHARS) : start])
    return found["bound"] if found and not found["distance"] else None


def bounded(span: Span, word: str | None, asked_at: datetime) -> Span:
    """The span up to the named time, or from it on until the question."""
    start, end = span
    if word in ("before", "until"):
        return BEGINNING, start
    if word in ("since", "after"):
        return (start if word == "since" else end), max(end, asked_at)
    return span


def day(match: re.Match[str], asked_at: datetime) -> Span:
    number, day_number = month_number(match["month"]), int(match["day"])
    if match["year"]:
        start = datetime(int(match["year"]), number, day_number, tzinfo=UTC)
    else:
        start = datetime(asked_at.year, number, day_number, tzinfo=UTC)
        if start > asked_at:
            start = datetime(asked_at.year - 1, number, day_number, tzinfo=UTC)
    return start, start + DAY


def month(match: re.Match[str], asked_at: datetime) -> Span:
    number = month_number(match["month"] or match["month_of_year"])
    year_text = match["year"] or match["with_year"]
    year = int(year_text) if year_text else latest_year(number, asked_at)
    return beginning(year, number), month_after(year, number)


def months_between(match: re.Match[str], asked_at: datetime) -> Span:
    first, last = month_number(match["month"]), month_number(match["last_month"])
    if match["year"]:
        year = int(match["year"])
    else:
        year = int(match["last_year"]) - (last < first) if match["last_year"] else latest_year(first, asked_at)
    last_year = int(match["last_year"]) if match["last_year"] else year + (last < first)
    return beginning(year, first), month_after(last_year, last)


def latest_year(month: int, asked_at: datetime) -> int:
    """The year in which this month last began."""
    return asked_at.year - (month > asked_at.month)


def month_number(said: str) -> int:
    return (
        int(said)
        if said.isdigit()
        else next(at for at, name in enumerate(MONTHS, start=1) if name.startswith(said[:3]))
    )


def ago(match: re.Match[str], asked_at: datetime) -> Span:
    """The named time, plus and minus half a unit."""
    unit = timedelta(days=DAYS_OF[match[2]])
    count = NUMBERS.get(match[1]) or int(match[1])
    middle = asked_at - min(count * unit, timedelta(days=36_500))
    return middle - unit / 2, middle + unit / 2


def last(match: re.Match[str], asked_at: datetime) -> Span:
    unit = timedelta(days=DAYS_OF[match[1]])
    return asked_at - 2 * unit, asked_at


def season(match: re.Match[str], asked_at: datetime) -> Span:
    first, final = SEASONS[match[2]]
    if match["year"]:
        year = int(match["year"])
    else:
        year = latest_year(first, asked_at)
        year -= match[1] == "last" and asked_at < month_after(year + (final < first), final)
    return beginning(year, first), month_after(year + (final < first), final)


def whole_year(match: re.Match[str], asked_at: datetime) -> Span:
    return beginning(int(match["year"]), 1), beginning(int(match["year"]) + 1, 1)


def beginning(year: int, month: int) -> datetime:
    return datetime(year, month, 1, tzinfo=UTC)


def month_after(year: int, month: int) -> datetime:
    return beginning(year + month // 12, month % 12 + 1)


# Narrowest first: each pattern removes its matches from the text.
RULES: Final[tuple[tuple[re.Pattern[str], Rule], ...]] = (
    *((pattern, day) for pattern in (ISO, DOTTED, SLASHED, DAY_MONTH, MONTH_DAY)),
    *((AGO, ago), (MONTHS_BETWEEN, months_between), (MONTH, month), (SEASON, season), (LAST, last), (YEAR, whole_year)),
)
