"""Reads the rate limits of the Messages API from the headers of its responses."""

from collections.abc import Mapping
from typing import Final

from agents.models.calls.rate_limits import KINDS, Allowance, LimitKind

PREFIX: Final = "anthropic-ratelimit-"


def allowances(headers: Mapping[str, str]) -> tuple[Allowance, ...]:
    """The remaining amount of each reported limit. The reset times are not needed: the API refills evenly."""
    return tuple(found for kind in KINDS if (found := allowance(headers, kind)) is not None)


def allowance(headers: Mapping[str, str], kind: LimitKind) -> Allowance | None:
    name = PREFIX + kind.replace("_", "-")
    per_minute, remaining = (
        number_or_none(headers.get(f"{name}-limit")),
        number_or_none(headers.get(f"{name}-remaining")),
    )
    if per_minute is None or remaining is None or per_minute == 0:
        return None
    return Allowance(kind, per_minute, remaining)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    return number_or_none(headers.get("retry-after"))


def number_or_none(written: str | None) -> float | None:
    """The number; None for anything else, as an invalid header must not fail a call."""
    try:
        value = float(written or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
