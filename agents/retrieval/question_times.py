"""Times that a question names, as spans: "in March", "last summer", "two weeks ago", a date. English, by rules. Pure."""

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

MONTH: Final = re.compile(
    rf"\b(?:in|during|last|this|since|early|late|of|until|by) ({'|'.join(MONTHS)})(?: (20\d\d))?\b"
)
AGO: Final = re.compile(rf"\b(\d{{1,3}}|{'|'.join(NUMBERS)}) ({'|'.join(DAYS_OF)})s? (?:ago|before now|back)\b")
LAST: Final = re.compile(r"\b(?:last|past) (week|month|year)\b")
SEASON: Final = re.compile(rf"\b(last|this|in|the|over the) ({'|'.join(SEASONS)})\b")
YEAR: Final = re.compile(r"\b(?:in|during|of) (20\d\d)\b")


def spans(question: str, asked_at: datetime) -> list[Span]:
    """From is included, to is not. Months and seasons without a year are the latest that have begun."""
    text = question.lower()
    rules: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Span]], ...] = (
        (MONTH, month),
        (AGO, ago),
        (LAST, last),
        (SEASON, season),
        (YEAR, lambda match, _: (beginning(int(match[1]), 1), beginning(int(match[1]) + 1, 1))),
    )
    named = [rule(match, asked_at) for pattern, rule in rules for match in pattern.finditer(text)]
    return [*named, *days(question, asked_at)]


def days(question: str, asked_at: datetime) -> Iterator[Span]:
    for dated in dates_in(question, asked_at, "en"):
        start = datetime(dated.day.year, dated.day.month, dated.day.day, tzinfo=UTC)
        yield start, start + dated.days * DAY


def month(match: re.Match[str], asked_at: datetime) -> Span:
    number = MONTHS.index(match[1]) + 1
    year = int(match[2]) if match[2] else asked_at.year - (number > asked_at.month)
    return beginning(year, number), beginning(year + number // 12, number % 12 + 1)


def ago(match: re.Match[str], asked_at: datetime) -> Span:
    """Around the moment, half a unit on either side."""
    unit = timedelta(days=DAYS_OF[match[2]])
    count = NUMBERS.get(match[1]) or int(match[1])
    middle = asked_at - min(count * unit, timedelta(days=36_500))
    return middle - unit / 2, middle + unit / 2


def last(match: re.Match[str], asked_at: datetime) -> Span:
    unit = timedelta(days=DAYS_OF[match[1]])
    return asked_at - 2 * unit, asked_at


def season(match: re.Match[str], asked_at: datetime) -> Span:
    first, final = SEASONS[match[2]]
    year = asked_at.year
    over = beginning(year + (final < first), final % 12 + 1)
    if beginning(year, first) > asked_at or (match[1] == "last" and asked_at < over):
        year -= 1
    return beginning(year, first), beginning(year + (final < first), final % 12 + 1)


def beginning(year: int, month: int) -> datetime:
    return datetime(year, month, 1, tzinfo=UTC)
