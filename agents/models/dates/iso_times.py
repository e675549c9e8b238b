"""Reads times in ISO 8601, as models write them: also a day, a month or a year without a time."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from schemas.conversations.messages import is_storable

MONTH_OR_YEAR: Final = re.compile(r"(\d{4})(?:-(\d\d))?")
END_OF_DAY: Final = re.compile(r"T24(?::?00(?::?00(?:\.0+)?)?)?(?=$|[-+Z])")
NOON: Final = time(12)


class UnreadableTime(ValueError):
    """A time in no known form, or outside of the range that can be stored."""


def read_moment(written: str, zone: tzinfo | None, time_of_day: time = time()) -> datetime:
    """The moment in UTC. A time without an offset is in `zone`. A day alone, or the first day of a month or year, has the time
    `time_of_day`. Raises UnreadableTime."""
    try:
        period = first_and_next_day(written)
        if period is not None:
            return in_utc(datetime.combine(period[0], time_of_day), zone)
        last_day = END_OF_DAY.sub("T00:00:00", written)
        parsed = datetime.fromisoformat(last_day)
        return in_utc(parsed + timedelta(days=1) if last_day != written else parsed, zone)
    except (ValueError, OverflowError) as exc:
        raise UnreadableTime(written) from exc


def read_end(written: str, zone: tzinfo | None) -> datetime:
    """The moment in UTC that ends a period: of a day, month or year, the end of its last day. Raises UnreadableTime."""
    try:
        period = first_and_next_day(written)
        if period is not None:
            return in_utc(datetime.combine(period[1], time()), zone)
    except (ValueError, OverflowError) as exc:
        raise UnreadableTime(written) from exc
    return read_moment(written, zone)


def first_and_next_day(written: str) -> tuple[date, date] | None:
    """The first day of a written day, month or year, and the day after its last day; None for a text with a time. Raises
    ValueError or OverflowError."""
    if "T" in written or ":" in written:
        return None
    if (match := MONTH_OR_YEAR.fullmatch(written)) is None:
        day = date.fromisoformat(written)
        return day, day + timedelta(days=1)
    year, month = int(match[1]), int(match[2] or 1)
    after = (year + 1, 1) if match[2] is None or month == 12 else (year, month + 1)
    return date(year, month, 1), date(*after, 1)


def in_utc(moment: datetime, zone: tzinfo | None) -> datetime:
    """The moment in UTC; in `zone` if it has no offset. Raises ValueError or OverflowError."""
    found = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    if not is_storable(found):
        raise ValueError(found)
    return found
