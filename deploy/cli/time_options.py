"""Parses options that are points in time."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

RELATIVE_TIME: Final = re.compile(r"(\d{1,6})([mhd])")
UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


def parse_time(text: str) -> datetime:
    """Parses a time: `90m`, `24h` and `7d` ago, or an ISO 8601 date or time, in UTC by default. Raises ValueError."""
    if ago := RELATIVE_TIME.fullmatch(text):
        try:
            return datetime.now(UTC) - timedelta(**{UNITS[ago[2]]: int(ago[1])})
        except OverflowError:
            raise ValueError(f"{text!r} is before the year 1") from None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a time: write 24h, 7d or 2026-11-22T14:00") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
