"""Consolidation runs on a real database: made when due, about what waits, asked for, and counted once it is done."""

from datetime import timedelta

from msgspec.structs import replace

from schemas.policies.policies import Policies
from schemas.policies.triggers import Schedule, Triggers
from sinks.archive.messages import Archive
from sinks.consolidation.runs import RunFilter
from tests.archived import archived_message
from tests.integration.consolidation.night import NIGHT, NIGHTLY, NOON, Night


async def test_a_due_schedule_creates_one_run_for_unextracted_conversations_of_its_policy(night: Night) -> None:
    worker = night.worker("one")
    await night.said("waits", range(10, 14))
    await night.said("half", range(20, 24), extracted_to=22)
    await night.said("done", range(30, 34), extracted_to=34)
    await night.said("forgotten", range(40, 44), phase="forgotten")
    await night.said("silent", range(50, 54), app="silent")
    await night.said("another's", range(60, 64), app="other")
    await worker.tick()
    night.now = NIGHT - timedelta(seconds=1)
    await worker.tick()
    assert (await night.all(), night.asked()) == ((), [])
    (noted,) = await night.runs.schedules()
    assert (noted.policy, noted.schedule, noted.next_due) == ("nightly", Schedule(at="02:00"), NIGHT)

    night.now = NIGHT
    await worker.tick()
    (run,) = await night.all()
    assert (run.policy, run.trigger, run.status, run.due_at, run.missed) == ("nightly", "schedule", "running", NIGHT, 0)
    assert (run.conversations, run.processed, run.started_at) == (2, 0, NIGHT)
    assert sorted(night.asked()) == [("half", 3, "background"), ("waits", 3, "background")]
    about = await night.pool.fetch("SELECT * FROM consolidation_conversations ORDER BY conversation_id")
    assert [(row["first_position"], row["last_position"]) for row in about] == [(22, 23), (10, 13)]

    await worker.tick()
    assert len(await night.all()) == 1 and len(night.asked()) == 2, "nothing is made or asked twice"


async def test_a_run_counts_the_results_of_its_slices_and_completes_with_the_last_one(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 14))
    await night.said("b", range(20, 24))
    run_id = await night.by_hand(policy="nightly")
    await worker.tick()
    await night.extracted("a", 10, 11, ("created", "superseded", "dropped"), tokens=90, cost=5)
    await worker.tick()
    assert (await night.run(run_id)).processed == 0, "half of a conversation is not done"

    await night.extracted("a", 12, 13, ("reinforced", "merged", "created"))
    await worker.tick()
    halfway = await night.run(run_id)
    assert (halfway.status, halfway.processed, halfway.conversations, halfway.requests) == ("running", 1, 2, 2)
    night.now += timedelta(minutes=1)
    await night.extracted("b", 20, 25, ("created",))
    await worker.tick()
    over = await night.run(run_id)
    assert (over.status, over.processed, over.requests, over.failed_requests) == ("completed", 2, 3, 0)
    assert (over.created, over.reinforced, over.merged, over.superseded, over.dropped) == (3, 1, 1, 1, 1)
    assert (over.tokens, over.cost_micros, over.providers, over.models) == (320, 19, ("claude",), ("haiku",))
    assert (over.finished_at, over.error) == (night.now, None)


async def test_a_run_without_conversations_completes_immediately(night: Night) -> None:
    run_id = await night.by_hand(conversation_id="nobody")
    await night.worker("one").tick()
    run = await night.run(run_id)
    assert (run.status, run.conversations, run.finished_at) == ("completed", 0, night.now)


async def test_a_run_for_an_unknown_policy_fails_with_a_message(night: Night) -> None:
    run_id = await night.by_hand(policy="nighly")
    await night.worker("one").tick()
    run = await night.run(run_id)
    assert (run.status, run.error) == ("failed", "there is no policy 'nighly'")


async def test_failed_requests_are_reported_and_a_run_without_any_answer_fails(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    await night.said("b", range(20, 22))
    both = await night.by_hand(policy="nightly")
    await worker.tick()
    await night.extracted("a", 10, 11, failed=True)
    await night.extracted("b", 20, 21, ("created",))
    await worker.tick()
    run = await night.run(both)
    assert (run.status, run.failed_requests, run.created) == ("completed", 1, 1)
    assert run.error and run.error.startswith("1 of 2 requests got no answer")

    await night.said("c", range(30, 32))
    night.now += timedelta(seconds=1)
    alone = await night.by_hand(conversation_id="c")
    await worker.tick()
    await night.extracted("c", 30, 31, failed=True)
    await worker.tick()
    assert (await night.run(alone)).status == "failed"


async def test_several_missed_scheduled_times_are_made_up_by_one_run(night: Night) -> None:
    await night.worker("one").tick()
    await night.said("a", range(10, 12))
    night.now = NIGHT + timedelta(days=2, hours=3)
    worker = night.worker("two", lease_s=60)
    await night.pool.execute("UPDATE leaders SET until = clock_timestamp()")
    await worker.tick()
    await worker.tick()
    (run,) = await night.all()
    assert (run.due_at, run.missed, run.conversations) == (NIGHT + timedelta(days=2), 2, 1)


async def test_a_changed_schedule_is_due_at_its_own_next_time_and_a_removed_one_never(night: Night) -> None:
    worker = night.worker("one")
    await worker.tick()
    weekly = replace(NIGHTLY, triggers=Triggers(schedule=Schedule(at="02:00", weekdays=("sun",))))
    night.policies = Policies((weekly,))
    await worker.tick()
    night.now = NIGHT
    await worker.tick()
    assert await night.all() == ()
    night.policies = Policies()
    await worker.tick()
    assert await night.pool.fetch("SELECT * FROM consolidation_schedules") == []


async def test_a_run_missed_before_a_schedule_change_is_still_created(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    await worker.tick()
    night.now = NIGHT + timedelta(hours=7)  # no worker ran at two
    night.policies = Policies((replace(NIGHTLY, triggers=Triggers(schedule=Schedule(at="03:00"))),))
    await worker.tick()
    (run,) = await night.all()
    assert (run.due_at, run.conversations, night.asked()) == (NIGHT, 1, [("a", 3, "background")])
    (noted,) = await night.runs.schedules()
    assert (noted.schedule.at, noted.next_due) == ("03:00", NIGHT + timedelta(days=1, hours=1))


async def test_a_slice_covered_by_two_runs_counts_only_for_the_run_that_requested_it_first(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    first = await night.by_hand(policy="nightly")
    await worker.tick()
    await night.said("a", range(12, 16))
    night.now += timedelta(seconds=1)
    second = await night.by_hand(conversation_id="a", lane="live")
    await worker.tick()
    assert night.asked() == [("a", 3, "background"), ("a", 3, "live")]
    await night.extracted("a", 10, 13, ("created",))  # of both, and counted where it begins
    await night.extracted("a", 14, 15, ("reinforced",))
    await worker.tick()
    runs = [await night.run(each) for each in (first, second)]
    assert [(run.status, run.requests, run.created, run.reinforced) for run in runs] == [
        ("completed", 1, 1, 0),
        ("completed", 1, 0, 1),
    ]


async def test_a_run_for_a_namespace_covers_the_conversations_that_feed_it(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    await night.said("b", range(20, 22), app="other")
    await night.by_hand(namespace="other/ada")
    await worker.tick()
    assert night.asked() == [("b", 3, "background")]


async def test_a_run_for_a_personal_namespace_covers_conversations_started_by_other_people(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    await night.said("b", range(20, 22))
    bobs = archived_message("b", 22, partition=3, timestamp=NOON, app_id="app", user_id="bob")
    await Archive(night.pool).store([bobs])
    await night.by_hand(namespace="app/bob")
    await worker.tick()
    assert night.asked() == [("b", 3, "background")]


async def test_runs_are_listed_newest_first_in_pages_and_filtered_by_policy_and_status(night: Night) -> None:
    ids = []
    for number in range(3):
        night.now += timedelta(seconds=1)
        ids.append(await night.by_hand(policy="nightly" if number else "another"))
    newest = await night.runs.page(RunFilter(limit=2))
    assert [run.run_id for run in newest] == ids[:0:-1]
    behind = (newest[-1].created_at, newest[-1].run_id)
    assert [run.run_id for run in await night.runs.page(RunFilter(limit=2, behind=behind))] == ids[:1]
    assert [run.run_id for run in await night.runs.page(RunFilter(limit=9, policy="another"))] == ids[:1]
    assert await night.runs.page(RunFilter(limit=9, status="running")) == ()


async def test_scheduled_runs_start_before_older_manual_runs(night: Night) -> None:
    worker = night.worker("one")
    await worker.tick()
    for _ in range(5):
        night.now += timedelta(seconds=1)
        await night.by_hand()
    night.now = NIGHT
    await worker.tick()
    statuses = [(run.trigger, run.status) for run in await night.all()]
    assert statuses == [*[("hand", "completed")] * 3, *[("hand", "pending")] * 2, ("schedule", "completed")]
