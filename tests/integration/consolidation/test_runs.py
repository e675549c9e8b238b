"""Consolidation runs on a real database are created when due, request waiting conversations and count their results."""

from datetime import timedelta

from msgspec.structs import replace

from schemas.policies.policies import Policies
from schemas.policies.triggers import Schedule, Triggers
from sinks.archive.messages import Archive
from sinks.consolidation.runs import RunFilter
from tests.builders.archived_messages import archived_message
from tests.integration.consolidation.scheduled_runs import NIGHT, NIGHTLY, NOON, ScheduledRuns


async def test_a_due_schedule_creates_one_run_for_unextracted_conversations_of_its_policy(
    scheduled: ScheduledRuns,
) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("waits", range(10, 14))
    await scheduled.said("half", range(20, 24), extracted_to=22)
    await scheduled.said("done", range(30, 34), extracted_to=34)
    await scheduled.said("forgotten", range(40, 44), phase="forgotten")
    await scheduled.said("silent", range(50, 54), app="silent")
    await scheduled.said("another's", range(60, 64), app="other")
    await worker.tick()
    scheduled.now = NIGHT - timedelta(seconds=1)
    await worker.tick()
    assert (await scheduled.all(), scheduled.requested()) == ((), [])
    (noted,) = await scheduled.runs.schedules()
    assert (noted.policy, noted.schedule, noted.next_due) == ("nightly", Schedule(at="02:00"), NIGHT)

    scheduled.now = NIGHT
    await worker.tick()
    (run,) = await scheduled.all()
    assert (run.policy, run.trigger, run.status, run.due_at, run.missed) == ("nightly", "schedule", "running", NIGHT, 0)
    assert (run.conversations, run.processed, run.started_at) == (2, 0, NIGHT)
    assert sorted(scheduled.requested()) == [("half", 3, "background"), ("waits", 3, "background")]
    about = await scheduled.pool.fetch("SELECT * FROM consolidation_conversations ORDER BY conversation_id")
    assert [(row["first_position"], row["last_position"]) for row in about] == [(22, 23), (10, 13)]

    await worker.tick()
    assert len(await scheduled.all()) == 1 and len(scheduled.requested()) == 2, "nothing is made or asked twice"


async def test_a_run_counts_the_results_of_its_slices_and_completes_with_the_last_one(scheduled: ScheduledRuns) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 14))
    await scheduled.said("b", range(20, 24))
    run_id = await scheduled.by_hand(policy="nightly")
    await worker.tick()
    await scheduled.extracted("a", 10, 11, ("created", "superseded", "dropped"), tokens=90, cost=5)
    await worker.tick()
    assert (await scheduled.run(run_id)).processed == 0, "half of a conversation is not done"

    await scheduled.extracted("a", 12, 13, ("reinforced", "merged", "created"))
    await worker.tick()
    halfway = await scheduled.run(run_id)
    assert (halfway.status, halfway.processed, halfway.conversations, halfway.requests) == ("running", 1, 2, 2)
    scheduled.now += timedelta(minutes=1)
    await scheduled.extracted("b", 20, 25, ("created",))
    await worker.tick()
    over = await scheduled.run(run_id)
    assert (over.status, over.processed, over.requests, over.failed_requests) == ("completed", 2, 3, 0)
    assert (over.created, over.reinforced, over.merged, over.superseded, over.dropped) == (3, 1, 1, 1, 1)
    assert (over.tokens, over.cost_micros, over.providers, over.models) == (320, 19, ("claude",), ("haiku",))
    assert (over.finished_at, over.error) == (scheduled.now, None)


async def test_a_run_without_conversations_completes_immediately(scheduled: ScheduledRuns) -> None:
    run_id = await scheduled.by_hand(conversation_id="nobody")
    await scheduled.worker("one").tick()
    run = await scheduled.run(run_id)
    assert (run.status, run.conversations, run.finished_at) == ("completed", 0, scheduled.now)


async def test_a_run_for_an_unknown_policy_fails_with_a_message(scheduled: ScheduledRuns) -> None:
    run_id = await scheduled.by_hand(policy="nighly")
    await scheduled.worker("one").tick()
    run = await scheduled.run(run_id)
    assert (run.status, run.error) == ("failed", "there is no policy 'nighly'")


async def test_failed_requests_are_reported_and_a_run_without_any_answer_fails(scheduled: ScheduledRuns) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    await scheduled.said("b", range(20, 22))
    both = await scheduled.by_hand(policy="nightly")
    await worker.tick()
    await scheduled.extracted("a", 10, 11, failed=True)
    await scheduled.extracted("b", 20, 21, ("created",))
    await worker.tick()
    run = await scheduled.run(both)
    assert (run.status, run.failed_requests, run.created) == ("completed", 1, 1)
    assert run.error and run.error.startswith("1 of 2 requests got no answer")

    await scheduled.said("c", range(30, 32))
    scheduled.now += timedelta(seconds=1)
    alone = await scheduled.by_hand(conversation_id="c")
    await worker.tick()
    await scheduled.extracted("c", 30, 31, failed=True)
    await worker.tick()
    assert (await scheduled.run(alone)).status == "failed"


async def test_several_missed_scheduled_times_are_made_up_by_one_run(scheduled: ScheduledRuns) -> None:
    await scheduled.worker("one").tick()
    await scheduled.said("a", range(10, 12))
    scheduled.now = NIGHT + timedelta(days=2, hours=3)
    worker = scheduled.worker("two", lease_s=60)
    await scheduled.pool.execute("UPDATE leaders SET until = clock_timestamp()")
    await worker.tick()
    await worker.tick()
    (run,) = await scheduled.all()
    assert (run.due_at, run.missed, run.conversations) == (NIGHT + timedelta(days=2), 2, 1)


async def test_a_changed_schedule_is_due_at_its_own_next_time_and_a_removed_one_never(scheduled: ScheduledRuns) -> None:
    worker = scheduled.worker("one")
    await worker.tick()
    weekly = replace(NIGHTLY, triggers=Triggers(schedule=Schedule(at="02:00", weekdays=("sun",))))
    scheduled.policies = Policies((weekly,))
    await worker.tick()
    scheduled.now = NIGHT
    await worker.tick()
    assert await scheduled.all() == ()
    scheduled.policies = Policies()
    await worker.tick()
    assert await scheduled.pool.fetch("SELECT * FROM consolidation_schedules") == []


async def test_a_run_missed_before_a_schedule_change_is_still_created(scheduled: ScheduledRuns) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    await worker.tick()
    scheduled.now = NIGHT + timedelta(hours=7)  # no worker ran at two
    scheduled.policies = Policies((replace(NIGHTLY, triggers=Triggers(schedule=Schedule(at="03:00"))),))
    await worker.tick()
    (run,) = await scheduled.all()
    assert (run.due_at, run.conversations, scheduled.requested()) == (NIGHT, 1, [("a", 3, "background")])
    (noted,) = await scheduled.runs.schedules()
    assert (noted.schedule.at, noted.next_due) == ("03:00", NIGHT + timedelta(days=1, hours=1))


async def test_a_slice_covered_by_two_runs_counts_only_for_the_run_that_requested_it_first(
    scheduled: ScheduledRuns,
) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    first = await scheduled.by_hand(policy="nightly")
    await worker.tick()
    await scheduled.said("a", range(12, 16))
    scheduled.now += timedelta(seconds=1)
    second = await scheduled.by_hand(conversation_id="a", lane="live")
    await worker.tick()
    assert scheduled.requested() == [("a", 3, "background"), ("a", 3, "live")]
    await scheduled.extracted("a", 10, 13, ("created",))  # of both, and counted where it begins
    await scheduled.extracted("a", 14, 15, ("reinforced",))
    await worker.tick()
    runs = [await scheduled.run(each) for each in (first, second)]
    assert [(run.status, run.requests, run.created, run.reinforced) for run in runs] == [
        ("completed", 1, 1, 0),
        ("completed", 1, 0, 1),
    ]


async def test_a_run_for_a_namespace_covers_the_conversations_that_feed_it(scheduled: ScheduledRuns) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    await scheduled.said("b", range(20, 22), app="other")
    await scheduled.by_hand(namespace="other/ada")
    await worker.tick()
    assert scheduled.requested() == [("b", 3, "background")]


async def test_a_run_for_a_personal_namespace_covers_conversations_started_by_other_people(
    scheduled: ScheduledRuns,
) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    await scheduled.said("b", range(20, 22))
    bobs = archived_message("b", 22, partition=3, timestamp=NOON, app_id="app", user_id="bob")
    await Archive(scheduled.pool).store([bobs])
    await scheduled.by_hand(namespace="app/bob")
    await worker.tick()
    assert scheduled.requested() == [("b", 3, "background")]


async def test_runs_are_listed_newest_first_in_pages_and_filtered_by_policy_and_status(
    scheduled: ScheduledRuns,
) -> None:
    ids = []
    for number in range(3):
        scheduled.now += timedelta(seconds=1)
        ids.append(await scheduled.by_hand(policy="nightly" if number else "another"))
    newest = await scheduled.runs.page(RunFilter(limit=2))
    assert [run.run_id for run in newest] == ids[:0:-1]
    behind = (newest[-1].created_at, newest[-1].run_id)
    assert [run.run_id for run in await scheduled.runs.page(RunFilter(limit=2, behind=behind))] == ids[:1]
    assert [run.run_id for run in await scheduled.runs.page(RunFilter(limit=9, policy="another"))] == ids[:1]
    assert await scheduled.runs.page(RunFilter(limit=9, status="running")) == ()


async def test_scheduled_runs_start_before_older_manual_runs(scheduled: ScheduledRuns) -> None:
    worker = scheduled.worker("one")
    await worker.tick()
    for _ in range(5):
        scheduled.now += timedelta(seconds=1)
        await scheduled.by_hand()
    scheduled.now = NIGHT
    await worker.tick()
    statuses = [(run.trigger, run.status) for run in await scheduled.all()]
    assert statuses == [*[("hand", "completed")] * 3, *[("hand", "pending")] * 2, ("schedule", "completed")]
