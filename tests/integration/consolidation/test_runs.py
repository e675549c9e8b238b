"""Consolidation runs on a real database: made when due, about what waits, asked for, and counted once it is done."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from agents.consolidation.requests import run_by_hand
from agents.consolidation.scheduler import ASK_AGAIN, GIVEN_UP_AFTER, LOOK_AGAIN, Scheduler
from schemas.codec import decode
from schemas.consolidation.runs import ConsolidationRun, RunWanted
from schemas.conversations.messages import Message
from schemas.errors import Retryable
from schemas.extraction.requests import WindowControl
from schemas.kafka import topics
from schemas.policies.policies import Match, Policies, Policy, Schedule, Triggers
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.consolidation.run_progress import RunProgress
from sinks.consolidation.runs import Runs, RunsAsked
from sinks.postgres.connection import Pool
from sinks.postgres.leaders import Leadership
from sinks.windows.projection import Windows
from tests.fakes.sinks import FakePublisher, Fuse
from tests.fakes.windows import a_state

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NIGHT = datetime(2026, 3, 3, 2, tzinfo=UTC)
NIGHTLY = Policy(name="nightly", match=Match(app_id="app"), triggers=Triggers(schedule=Schedule(at="02:00")))
SILENT = Policy(name="silent", match=Match(app_id="silent"), extract=False)


class Night:
    """Workers side by side on one database, and the conversations that they consolidate."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.now = NOON
        self.policies = Policies((NIGHTLY, SILENT))
        self.published = FakePublisher()
        self.runs = Runs(pool)

    def worker(self, name: str, lease_s: float = 60.0, silent_s: float = 60.0) -> Scheduler:
        class Governing:
            now = property(lambda _: self.policies)

        leading = Leadership(self.pool, "scheduler", name, lease_s, silent_s)
        return Scheduler(leading, Governing(), self.published, lambda: self.now)

    async def said(
        self, conversation: str, positions: range, partition: int = 3, app: str = "app", **state: Any
    ) -> None:
        """Messages in the archive, and a window that knows of them."""
        await Archive(self.pool).store(
            [
                ArchivedMessage(
                    message=Message(
                        conversation_id=conversation,
                        message_id=f"{conversation}-{at}",
                        role="user",
                        timestamp=NOON,
                        content="hello",
                        app_id=app,
                        user_id="ada",
                    ),
                    partition=partition,
                    position=at,
                )
                for at in positions
            ]
        )
        scope = replace(a_state(conversation).scope, app_id=app, user_id="ada")
        await Windows(self.pool).project([a_state(conversation, scope=scope, partition=partition, **state)])

    async def extracted(
        self,
        conversation: str,
        first: int,
        last: int,
        results: tuple[str, ...] = (),
        *,
        failed: bool = False,
        **used: int,
    ) -> str:
        """A slice that was answered, and settled; its candidates came to these results."""
        request = f"{conversation}/{first}-{last}"
        await self.pool.execute(
            "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
            " policy_version, namespaces, provider, model, completed_at, failed_at, failed_reason)"
            " VALUES ($1, $2, 3, $3, $4, 'nightly', 1, '{app/ada}', 'claude', 'haiku', $5, $6, $7)",
            *(request, conversation, first, last, None if failed else self.now, self.now if failed else None),
            "refused: no" if failed else None,
        )
        outcome = {"rulings": [{"candidate_id": str(n), "result": result} for n, result in enumerate(results)]}
        await self.pool.execute(
            "INSERT INTO extraction_parts (request_id, part, namespace, outcome) VALUES ($1, 1, 'app/ada', $2)",
            *(request, outcome),
        )
        await self.pool.execute(
            "INSERT INTO model_usage (usage_id, at, operation, lane, outcome, provider, model, calls, input_tokens,"
            " output_tokens, cache_read_tokens, cache_write_tokens, cost_micros, batched, namespaces, request_id)"
            " VALUES ($1, $2, 'extract', 'background', 'answered', 'claude', 'haiku', 1, $3, 10, 0, 0, $4, false, '{}', $1)",
            *(request, self.now, used.get("tokens", 100), used.get("cost", 7)),
        )
        return request

    def asked(self) -> list[tuple[str, int | None, str | None]]:
        told = [
            (record, decode(record.value or b"", WindowControl)) for record in self.published.on(topics.WINDOW_CONTROL)
        ]
        assert {control.kind for _, control in told} <= {"flush"}
        return [(control.conversation_id, record.partition, control.lane) for record, control in told]

    async def all(self) -> tuple[ConsolidationRun, ...]:
        """Oldest first."""
        return (await self.runs.page(RunsAsked(limit=100)))[::-1]

    async def by_hand(self, **wanted: Any) -> str:
        run = run_by_hand(RunWanted(**wanted), (), "ada", self.now)
        await self.runs.ask(run)
        return run.run_id

    async def run(self, run_id: str) -> ConsolidationRun:
        found = await self.runs.of(run_id)
        assert found is not None
        return found


@pytest.fixture
def night(pool: Pool) -> Night:
    return Night(pool)


async def test_at_its_moment_a_policy_has_one_run_about_what_waits_in_its_conversations(night: Night) -> None:
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


async def test_a_run_counts_what_came_of_its_slices_and_is_over_when_the_last_is_settled(night: Night) -> None:
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


async def test_a_run_with_nothing_to_do_is_over_as_it_begins(night: Night) -> None:
    run_id = await night.by_hand(conversation_id="nobody")
    await night.worker("one").tick()
    run = await night.run(run_id)
    assert (run.status, run.conversations, run.finished_at) == ("completed", 0, night.now)


async def test_a_policy_that_nobody_knows_is_said_to_be_none(night: Night) -> None:
    run_id = await night.by_hand(policy="nighly")
    await night.worker("one").tick()
    run = await night.run(run_id)
    assert (run.status, run.error) == ("failed", "no policy is called 'nighly'")


async def test_requests_without_an_answer_are_told_and_a_run_of_which_none_was_answered_failed(night: Night) -> None:
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


async def test_one_worker_leads_and_another_takes_over_when_it_stands_down_or_dies(night: Night) -> None:
    first, second = night.worker("first", lease_s=60), night.worker("second", lease_s=60)
    await night.said("a", range(10, 12))
    await first.tick()
    night.now = NIGHT
    await second.tick()
    assert await night.all() == (), "the second one does not lead"
    await first.close()
    await second.tick()
    assert len(await night.all()) == 1, "the moment that the first one noted is not missed"
    await first.tick()
    await night.pool.execute("UPDATE leaders SET until = clock_timestamp()")  # the lease of a worker that died runs out
    night.now = NIGHT + timedelta(days=1)
    await first.tick()
    runs = await night.all()
    assert [run.due_at for run in runs] == [NIGHT, NIGHT + timedelta(days=1)]
    assert [run.conversations for run in runs] == [1, 0], "what the first run is about, the second one is not"


async def test_of_two_that_believe_that_they_lead_one_decides_at_a_time(night: Night) -> None:
    first = Leadership(night.pool, "scheduler", "first", lease_s=0.0)
    second = Leadership(night.pool, "scheduler", "second", lease_s=0.0)
    async with first.term() as leads, second.term() as leads_too:
        assert leads is not None and leads_too is None


async def test_who_is_paused_within_a_term_loses_it_to_another_one_and_decides_nothing_after(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = night.worker("first", lease_s=0.0, silent_s=0.2), night.worker("second")
    await night.said("a", range(10, 12))
    await first.tick()
    night.now = NIGHT
    paused, resumed = asyncio.Event(), asyncio.Event()
    adds = RunProgress.add

    async def pausing(progress: RunProgress, run: ConsolidationRun) -> None:
        if not paused.is_set():
            paused.set()
            await resumed.wait()
        await adds(progress, run)

    monkeypatch.setattr(RunProgress, "add", pausing)
    ticking = asyncio.create_task(first.tick())
    await paused.wait()
    async with asyncio.timeout(10):
        while not night.asked():
            await second.tick()
    made = await night.all()
    resumed.set()
    with pytest.raises(Retryable):
        await ticking
    await first.tick()
    assert (len(made), await night.all(), night.asked()) == (1, made, [("a", 3, "background")])


async def test_a_run_whose_leader_breaks_off_while_it_asks_is_asked_whole_by_the_next_one_and_ends_once(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.consolidation.scheduler.ASKED_AT_ONCE", 2)
    said = {"a": 10, "b": 20, "c": 30, "d": 40}
    for conversation, at in said.items():
        await night.said(conversation, range(at, at + 2))
    night.published = FakePublisher(Fuse(4))  # two words, and one of the next two
    first, second = night.worker("first"), night.worker("second")
    run_id = await night.by_hand(policy="nightly")
    await first.tick()
    with pytest.raises(Retryable, match="fuse"):
        await first.tick()
    await night.pool.execute("UPDATE leaders SET until = clock_timestamp()")
    await second.tick()
    await first.tick()
    asked = [name for name, *_ in night.asked()]
    assert (sorted(asked[:2] + asked[3:]), asked[2] in asked[3:]) == (list(said), True)

    for conversation, at in said.items():
        await night.extracted(conversation, at, at + 1, ("created",))
    await second.tick()
    over = await night.run(run_id)
    assert (over.status, over.processed, over.requests, over.created) == ("completed", 4, 4, 4)
    await first.tick()
    assert (await night.all(), len(night.asked())) == ((over,), 5)


async def test_moments_that_nobody_saw_are_made_good_by_one_run(night: Night) -> None:
    await night.worker("one").tick()
    await night.said("a", range(10, 12))
    night.now = NIGHT + timedelta(days=2, hours=3)
    worker = night.worker("two", lease_s=60)
    await night.pool.execute("UPDATE leaders SET until = clock_timestamp()")
    await worker.tick()
    await worker.tick()
    (run,) = await night.all()
    assert (run.due_at, run.missed, run.conversations) == (NIGHT + timedelta(days=2), 2, 1)


async def test_a_schedule_that_changes_is_due_at_its_own_next_moment_and_one_that_is_gone_never(night: Night) -> None:
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


async def test_a_moment_that_came_before_its_schedule_changed_is_not_missed(night: Night) -> None:
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


async def test_what_is_asked_for_already_belongs_to_the_run_that_is_about_it(night: Night) -> None:
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


async def test_a_namespace_is_about_the_conversations_that_feed_it(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    await night.said("b", range(20, 22), app="other")
    await night.by_hand(namespace="other/ada")
    await worker.tick()
    assert night.asked() == [("b", 3, "background")]


async def test_a_word_that_got_lost_is_said_again_and_one_that_was_heard_is_not(night: Night) -> None:
    worker = night.worker("one")
    await night.said("lost", range(10, 12))
    await night.said("heard", range(20, 22))
    await night.by_hand(policy="nightly")
    await worker.tick()
    await night.pool.execute(
        "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
        " policy_version, namespaces) VALUES ('r', 'heard', 3, 20, 21, 'nightly', 1, '{app/ada}')"
    )
    night.now += LOOK_AGAIN
    await worker.tick()
    assert len(night.asked()) == 2, "not before five minutes have passed"
    night.now += ASK_AGAIN
    await worker.tick()
    assert night.asked()[2:] == [("lost", 3, "background")]


async def test_kafka_being_away_holds_up_no_moment_and_asks_once_it_is_back(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    await worker.tick()
    night.now = NIGHT
    night.published = FakePublisher(Fuse(1))
    worker = night.worker("one")
    with pytest.raises(Retryable, match="fuse"):
        await worker.tick()
    assert len(await night.all()) == 1
    await worker.tick()
    assert night.asked() == [("a", 3, "background")]


async def test_a_run_that_does_not_end_is_given_up_and_says_how_far_it_came(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    run_id = await night.by_hand(policy="nightly")
    await worker.tick()
    night.now += GIVEN_UP_AFTER
    await worker.tick()
    run = await night.run(run_id)
    assert run.status == "failed" and run.error and run.error.startswith("1 of 1 conversations were not done in time")


async def test_runs_are_listed_newest_first_a_page_at_a_time_and_by_what_they_are(night: Night) -> None:
    ids = []
    for number in range(3):
        night.now += timedelta(seconds=1)
        ids.append(await night.by_hand(policy="nightly" if number else "another"))
    newest = await night.runs.page(RunsAsked(limit=2))
    assert [run.run_id for run in newest] == ids[:0:-1]
    behind = (newest[-1].created_at, newest[-1].run_id)
    assert [run.run_id for run in await night.runs.page(RunsAsked(limit=2, behind=behind))] == ids[:1]
    assert [run.run_id for run in await night.runs.page(RunsAsked(limit=9, policy="another"))] == ids[:1]
    assert await night.runs.page(RunsAsked(limit=9, status="running")) == ()


async def test_a_run_by_hand_that_cannot_begin_holds_up_no_schedule_and_no_other_run(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = night.worker("one")
    await worker.tick()
    await night.said("a", range(10, 12))
    poison = await night.by_hand(namespace="app/ada")
    adds = RunProgress.add_conversations

    async def too_slow(progress: RunProgress, run: ConsolidationRun, *given: Any) -> int:
        if run.run_id == poison:
            raise Retryable("it takes too long")
        return await adds(progress, run, *given)

    monkeypatch.setattr(RunProgress, "add_conversations", too_slow)
    night.now = NIGHT
    other = await night.by_hand(conversation_id="a")
    await worker.tick()
    (scheduled,) = [run for run in await night.all() if run.trigger == "schedule"]
    assert (scheduled.status, (await night.run(other)).status) == ("running", "completed")
    assert (await night.run(poison)).status == "pending"
    assert night.asked() == [("a", 3, "background")]


async def test_runs_that_can_never_begin_leave_room_for_others_and_are_given_up_after_an_hour(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    hopeless = [await night.by_hand(namespace=f"app/{name}") for name in "abcde"]
    tried: list[str] = []
    windows = RunProgress.windows

    async def too_slow(progress: RunProgress, conversation_id: str | None, *given: Any) -> Any:
        if conversation_id is None:
            tried.append("all")
            raise Retryable("it takes too long")
        return await windows(progress, conversation_id, *given)

    monkeypatch.setattr(RunProgress, "windows", too_slow)
    night.now += timedelta(seconds=1)
    other = await night.by_hand(conversation_id="a")
    await worker.tick()
    await worker.tick()
    assert ((await night.run(other)).status, len(tried)) == ("running", len(hopeless)), "each of them once"
    for minutes in range(1, 61):
        night.now = NOON + timedelta(seconds=1, minutes=minutes)
        assert {(await night.run(each)).status for each in hopeless} == {"pending"}
        await worker.tick()
        await worker.tick()
    given_up = [await night.run(each) for each in hopeless]
    assert {(each.status, each.finished_at) for each in given_up} == {("failed", night.now)}
    assert {each.error for each in given_up} == {"it could not begin for 1:00:00, and is given up: it takes too long"}
    asked = len(tried)
    night.now += timedelta(minutes=2)
    await worker.tick()
    assert len(tried) == asked


async def test_a_run_that_can_never_begin_is_given_up_though_others_come_before_it_all_the_time(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    hopeless = await night.by_hand(namespace="app/ada")
    adds = RunProgress.add_conversations

    async def too_slow(progress: RunProgress, run: ConsolidationRun, *given: Any) -> int:
        if run.run_id == hopeless:
            raise Retryable("it takes too long")
        return await adds(progress, run, *given)

    monkeypatch.setattr(RunProgress, "add_conversations", too_slow)
    for minutes in range(62):
        night.now = NOON + timedelta(minutes=minutes)
        await worker.tick()
        for number in range(6):
            came = replace(
                await night.run(hopeless), run_id=f"{minutes}-{number}", trigger="schedule", policy="nightly"
            )
            await night.runs.ask(replace(came, namespace=None, due_at=night.now + timedelta(seconds=number)))
        await worker.tick()
        await worker.tick()
    assert (await night.run(hopeless)).status == "failed"


async def test_runs_of_schedules_begin_before_those_by_hand_that_wait_for_longer(night: Night) -> None:
    worker = night.worker("one")
    await worker.tick()
    for _ in range(5):
        night.now += timedelta(seconds=1)
        await night.by_hand()
    night.now = NIGHT
    await worker.tick()
    statuses = [(run.trigger, run.status) for run in await night.all()]
    assert statuses == [*[("hand", "completed")] * 3, *[("hand", "pending")] * 2, ("schedule", "completed")]
