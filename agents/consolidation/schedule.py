"""Computes which scheduled time is due. Pure."""

from datetime import UTC, datetime
from typing import NamedTuple

from schemas import ids
from schemas.consolidation.runs import ConsolidationRun
from schemas.policies.policies import Schedule
from streams.windows.extraction.triggers import next_run

SCHEDULER = "schedule"  # who asks for the runs of schedules


class DueRun(NamedTuple):
    """The latest moment that has come, how many before it had passed unnoticed, and the next one."""

    at: datetime
    missed: int
    next_due: datetime


def next_moment(schedule: Schedule, after: datetime) -> datetime:
    """The schedule's first moment after another."""
    return datetime.fromtimestamp(next_run(schedule, after.timestamp()), UTC)


def due(schedule: Schedule, next_due: datetime, now: datetime) -> DueRun | None:
    """What is due by `now` of a schedule whose next moment was noted; None if that has not come.

    However many moments have passed, one run makes them good: it is about all that waits.
    """
    if now < next_due:
        return None
    at, missed = next_due, 0
    while (after := next_moment(schedule, at)) <= now:
        at, missed = after, missed + 1
    return DueRun(at, missed, after)


def run_of(policy: str, came: DueRun, now: datetime) -> ConsolidationRun:
    """The run of a moment: whoever finds that it is due makes the same one."""
    return ConsolidationRun(
        run_id=ids.derive("consolidation", policy, came.at.isoformat()),
        trigger="schedule",
        status="pending",
        asked_by=SCHEDULER,
        policy=policy,
        due_at=came.at,
        missed=came.missed,
        created_at=now,
    )
