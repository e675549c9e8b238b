"""Finds the times that a question names ("in March", "last summer", "two weeks ago", a date), as time spans. English, by
rules. Pure."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from agents.models.dates.dates import dates_in

Span: TypeAlias = tuple[datetime, datetime]

DAY: Final = timedelta(days=1)
MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
SEASONS: Final = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}
NUMBERS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "couple of": 2,
    "few": 3,
}
DAYS_OF: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
NAMED_MONTH: Final = rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
DAY_NUMBER: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
YEAR_NUMBER: Final = r"(?P<year>(?:19|20)\d\d)"

ISO: Final = re.compile(rf"\b{YEAR_NUMBER}-(?P<month>\d\d)-(?P<day>\d\d)\b")
DOTTED: Final = re.compile(rf"\b(?P<day>\d?\d)\.(?P<month>\d?\d)\.{YEAR_NUMBER}\b")
SLASHED: Final = re.compile(rf"\b(?P<month>\d?\d)/(?P<day>\d?\d)/{YEAR_NUMBER}\b")
DAY_MONTH: Final = re.compile(rf"\b{DAY_NUMBER}(?: of)? {NAMED_MONTH}(?:,? {YEAR_NUMBER})?(?!\w)")
MONTH_DAY: Final = re.compile(rf"\b{NAMED_MONTH} (?:the )?{DAY_NUMBER}(?!\d)(?:,? {YEAR_NUMBER})?(?!\w)")
MONTH: Final = re.compile(
    rf"\b(?:(?:in|during|last|this|since|early|mid|late|of|until|by) {NAMED_MONTH}(?:,? {YEAR_NUMBER})?"
    rf"|{NAMED_MONTH.replace('month', 'month_of_year')},? {YEAR_NUMBER.replace('year', 'with_year')})(?!\w)"
)
AGO: Final = re.compile(rf"\b(\d{{1,3}}|{'|'.join(NUMBERS)}) (day|week|month|year)s? (?:ago|before now|back)\b")
LAST: Final = re.compile(r"\b(?:last|past) (week|month|year)\b")
SEASON: Final = re.compile(rf"\b(last|this|in|the|over the) ({'|'.join(SEASONS)})\b(?: of)?(?: {YEAR_NUMBER})?")
YEAR: Final = re.compile(rf"\b(?:in|during|of) {YEAR_NUMBER}\b")

Rule: TypeAlias = Callable[[re.Match[str], datetime], Span]


def spans(question: str, asked_at: datetime) -> list[Span]:
    """Spans from (inclusive) to (exclusive). A day, month or season without a year is the latest one that has begun. Of
    nested expressions the narrowest counts: "3 March" is that day, not all of March."""
    text, found = question.lower(), list[Span]()
    for pattern, rule in RULES:
        for match in pattern.finditer(text):
            try:
                found.append(rule(match, asked_at))
            except (ValueError, OverflowError):
                continue  # such as 31 February, or the year 0
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return [*found, *relative_days(text, asked_at)]


def relative_days(text: str, asked_at: datetime) -> Iterator[Span]:
    """ "Yesterday", "last Friday": the latest such day that has begun."""
    for dated in dates_in(text, asked_at, "en"):
        start = datetime(dated.day.year, dated.day.month, dated.day.day, tzinfo=UTC)
        start -= timedelta(days=7) if start > asked_at else timedelta()
        yield start, start + dated.days * DAY


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
    year = int(year_text) if year_text else asked_at.year - (number > asked_at.month)
    return beginning(year, number), beginning(year + number // 12, number % 12 + 1)


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
    year = int(match["year"]) if match["year"] else asked_at.year
    over = beginning(year + (final < first), final % 12 + 1)
    if not match["year"] and (beginning(year, first) > asked_at or (match[1] == "last" and asked_at < over)):
        year -= 1
    return beginning(year, first), beginning(year + (final < first), final % 12 + 1)


def whole_year(match: re.Match[str], asked_at: datetime) -> Span:
    return beginning(int(match["year"]), 1), beginning(int(match["year"]) + 1, 1)


def beginning(year: int, month: int) -> datetime:
    return datetime(year, month, 1, tzinfo=UTC)


# Narrowest first: each pattern removes its matches from the text.
RULES: Final[tuple[tuple[re.Pattern[str], Rule], ...]] = (
    *((pattern, day) for pattern in (ISO, DOTTED, SLASHED, DAY_MONTH, MONTH_DAY)),
    *((AGO, ago), (MONTH, month), (SEASON, season), (LAST, last), (YEAR, whole_year)),
)
