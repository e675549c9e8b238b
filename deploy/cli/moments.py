"""Moments as options of commands say them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

AGO: Final = re.compile(r"(\d{1,6})([mhd])")
UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


def moment(text: str) -> datetime:
    """`90m`, `24h` and `7d` are so long ago; else a date or a time, of UTC unless it says otherwise. Raises ValueError."""
    if ago := AGO.fullmatch(text):
        try:
            return datetime.now(UTC) - timedelta(**{UNITS[ago[2]]: int(ago[1])})
        except OverflowError:
            raise ValueError(f"{text!r} is before the year 1") from None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither like 24h or 7d nor like 2026-11-22T14:00") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
