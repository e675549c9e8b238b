"""Triggers of extraction: by message and by time."""

from datetime import UTC, datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from schemas.budgets.budgets import Lane
from schemas.extraction.requests import SliceMessage
from schemas.policies.policies import Policy
from schemas.policies.triggers import Schedule

# A consolidation run requests all windows together at a scheduled time and counts the results. What no run has requested
# by then each window requests itself.
RUN_WITHIN_S: Final = 900.0

SCHEDULES_KEPT: Final = 64  # cached next times
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Waiting(NamedTuple):
    """When the first and the last waiting message arrived (Unix seconds)."""

    since: float
    until: float


def extracts_at(message: SliceMessage, tokens: int, has_user: bool, policy: Policy) -> bool:
    """Whether a message triggers extraction, given the waiting tokens and whether a user's message is among them."""
    triggers = policy.triggers
    if triggers.on_exchange and message.role == "assistant" and not message.tool_calls and has_user:
        return True
    return triggers.after_tokens is not None and tokens >= triggers.after_tokens


def due_at(waiting: Waiting, ended: bool, policy: Policy) -> float:
    """The latest moment at which time triggers extraction (Unix seconds). It exists under any settings."""
    triggers = policy.triggers
    moments = [waiting.until + triggers.abandoned_s, *urgent_deadlines(waiting, ended, policy)]
    if triggers.schedule is not None:
        moments.append(next_run(triggers.schedule, waiting.since) + RUN_WITHIN_S)
    return min(moments)


def urgent_deadlines(waiting: Waiting, ended: bool, policy: Policy) -> list[float]:
    """The moments (Unix seconds) of triggers whose result a client may wait for: all but the schedule and abandonment."""
    triggers = policy.triggers
    moments = [waiting.until + policy.late_idle_s] if ended else []
    if triggers.idle_s is not None:
        moments.append(waiting.until + triggers.idle_s)
    if triggers.age_s is not None:
        moments.append(waiting.since + triggers.age_s)
    return moments


def lane(waiting: Waiting, ended: bool, policy: Policy, now: float) -> Lane:
    """The lane of a request that time triggers now."""
    return "live" if any(moment <= now for moment in urgent_deadlines(waiting, ended, policy)) else "background"


def next_run(schedule: Schedule, after: float) -> float:
    """The schedule's first moment later than `after` (Unix seconds). An hour that a clock change skips or repeats runs once."""
    if len(_upcoming) >= SCHEDULES_KEPT:
        _upcoming.clear()
    cached, moment = _upcoming.get(schedule, (after, after))
    if not cached <= after < moment:  # cached: every window of a policy asks for the same time
        moment = _next_run(schedule, after)
        _upcoming[schedule] = after, moment
    return moment


_upcoming: dict[Schedule, tuple[float, float]] = {}


def _next_run(schedule: Schedule, after: float) -> float:
    zone = ZoneInfo(schedule.time_zone)
    hour, minute = map(int, schedule.at.split(":"))
    day = datetime.fromtimestamp(after, UTC).astimezone(zone).date()
    for days in range(9):
        moment = datetime.combine(day + timedelta(days=days), time(hour, minute), zone)
        runs = not schedule.weekdays or WEEKDAYS[moment.weekday()] in schedule.weekdays
        if runs and moment.timestamp() > after:
            return moment.timestamp()
    raise ValueError(f"{schedule} never runs")
