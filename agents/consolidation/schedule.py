"""Computes which scheduled time is due. Pure."""

from datetime import UTC, datetime
from typing import NamedTuple

from schemas import ids
from schemas.consolidation.runs import ConsolidationRun
from schemas.policies.triggers import Schedule
from streams.windows.extraction.triggers import next_run

SCHEDULER = "schedule"  # the requester of scheduled runs


class DueRun(NamedTuple):
    """The latest due time, the number of missed times before it, and the next one."""

    at: datetime
    missed: int
    next_due: datetime


def next_time(schedule: Schedule, after: datetime) -> datetime:
    """The schedule's first time after `after`."""
    return datetime.fromtimestamp(next_run(schedule, after.timestamp()), UTC)


def due(schedule: Schedule, next_due: datetime, now: datetime) -> DueRun | None:
    """The due run at `now` of a schedule with the stored next time; None if that has not come.

    One run makes up for all missed times, as it covers all waiting messages.
    """
    if now < next_due:
        return None
    at, missed = next_due, 0
    while (after := next_time(schedule, at)) <= now:
        at, missed = after, missed + 1
    return DueRun(at, missed, after)


def scheduled_run(policy: str, due_run: DueRun, now: datetime) -> ConsolidationRun:
    """The run of a due time; its id is derived, so every process makes the same one."""
    return ConsolidationRun(
        run_id=ids.derive("consolidation", policy, due_run.at.isoformat()),
        trigger="schedule",
        status="pending",
        asked_by=SCHEDULER,
        policy=policy,
        due_at=due_run.at,
        missed=due_run.missed,
        created_at=now,
    )
