"""Due times of a schedule are covered by exactly one run, however and by whomever they are checked."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from agents.consolidation.schedule import DueRun, due, next_time, scheduled_run
from schemas.policies.triggers import Schedule

NIGHTLY = Schedule(at="02:00")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NIGHT = datetime(2026, 3, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def test_no_run_is_due_before_its_time_and_a_due_run_carries_the_next_time():
    assert next_time(NIGHTLY, NOON) == NIGHT
    assert due(NIGHTLY, NIGHT, NIGHT - timedelta(microseconds=1)) is None
    assert due(NIGHTLY, NIGHT, NIGHT) == DueRun(NIGHT, 0, NIGHT + DAY)


def test_missed_times_of_a_schedule_are_made_up_by_one_run_with_their_count():
    assert due(NIGHTLY, NIGHT, NIGHT + 3 * DAY + timedelta(hours=5)) == DueRun(NIGHT + 3 * DAY, 3, NIGHT + 4 * DAY)


def test_a_weekly_schedule_keeps_its_local_hour_across_daylight_saving_changes():
    weekly = Schedule(at="03:00", weekdays=("sun",), time_zone="Europe/Lisbon")
    assert next_time(weekly, datetime(2026, 3, 20, tzinfo=UTC)) == datetime(2026, 3, 22, 3, tzinfo=UTC)
    assert next_time(weekly, datetime(2026, 3, 22, 3, tzinfo=UTC)) == datetime(2026, 3, 29, 2, tzinfo=UTC)


def test_the_run_id_of_a_due_time_is_the_same_whichever_worker_finds_it():
    came = DueRun(NIGHT, 0, NIGHT + DAY)
    assert scheduled_run("p", came, NIGHT).run_id == scheduled_run("p", came, NIGHT + DAY).run_id
    others = {scheduled_run("q", came, NIGHT).run_id, scheduled_run("p", came._replace(at=NIGHT + DAY), NIGHT).run_id}
    assert scheduled_run("p", came, NIGHT).run_id not in others


@given(
    looks=st.lists(st.floats(0, 90 * 3600), min_size=1, max_size=30),
    at=st.sampled_from(["00:00", "02:00", "02:30", "23:59"]),
    zone=st.sampled_from(["UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe"]),
)
def test_every_scheduled_time_is_covered_by_exactly_one_run_however_rarely_it_is_checked(looks, at, zone):
    schedule, now = Schedule(at=at, time_zone=zone), NOON
    next_due, covered, runs = next_time(schedule, now), 0, []
    for seconds in looks:
        now += timedelta(seconds=seconds)
        if (came := due(schedule, next_due, now)) is not None:
            runs.append(came.at)
            covered += 1 + came.missed
            next_due = came.next_due
        assert next_due > now
    moments, moment = 0, next_time(schedule, NOON)
    while moment <= now:
        moments, moment = moments + 1, next_time(schedule, moment)
    assert covered == moments
    assert runs == sorted(set(runs))
