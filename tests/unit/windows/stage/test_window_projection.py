"""Windows are projected after each checkpoint, never earlier, and again after a crash."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from agents.windows.projection import WindowProjection
from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import UNDO_S, Restorable
from schemas.errors import Retryable
from schemas.policies.policies import Policy
from streams.delivery.fence import Phase
from tests.fakes.chats import CONVERSATION, control, ended
from tests.fakes.windows import FakeWindows, a_state
from tests.unit.windows.stage.window_stage import CONTROL, ENDED, MESSAGES, PARTITION, POLICY, Stage, said

AT = datetime(2026, 11, 1, tzinfo=UTC)
LONG = "x" * 100
ASTRAY = PARTITION + 1
NAMELESS = Policy(name="default")  # of a window that no message named an app to


class Projected(Stage):
    """A stage whose windows are projected when the test says so."""

    def __init__(self, broker=None, clock=None, policy=POLICY, windows: FakeWindows | None = None) -> None:
        super().__init__(broker, clock, policy)
        self.windows = windows or FakeWindows()
        self.projection = WindowProjection(self.app, self.windows, self.terms)

    async def projected_state(self, conversation_id: str = CONVERSATION):
        await self.projection.project(AT)
        return await self.windows.of(conversation_id)


@pytest.fixture
async def stage() -> Projected:
    stage = await Projected().begin()
    await stage.projection.project(AT)
    return stage


async def test_a_window_is_projected_only_after_its_checkpoint(stage):
    await stage.say(said(1), said(2, role="assistant", model="small"))
    assert await stage.projected_state() is None
    await stage.checkpoint()
    state = await stage.projected_state()
    assert (state.scope.user_id, state.partition, state.policy, state.phase) == ("user", PARTITION, "app", "open")
    assert (state.statistics.messages_in_context, state.statistics.total_tokens) == (2, 16)
    assert (state.model, state.statistics.context_tokens) == ("small", 1_000)


async def test_changes_without_a_checkpoint_are_not_projected(stage):
    await stage.say(said(1))
    await stage.checkpoint()
    await stage.say(said(2))
    assert (await stage.projected_state()).statistics.total_messages == 1


async def test_prunings_gaps_clears_undos_and_extraction_progress_are_projected():
    policy = replace(POLICY, window=WindowSettings(min_recent=2))
    stage = await Projected(policy=policy).begin()
    await stage.say(*(said(n, LONG, model="small") for n in range(8)))
    await stage.end(ended())
    await stage.checkpoint()
    state = await stage.projected_state()
    assert (state.phase, state.extracted_to) == ("ended", 0)
    assert [gap.count for gap in state.gaps] == [2]
    assert [pruning.count for pruning in state.prunings] == [2]
    assert state.statistics.last_prune.removed == 2
    request = stage.requests[0].request_id
    await stage.tell(control("extraction_completed", request_id=request), control("clear"))
    await stage.checkpoint()
    state = await stage.projected_state()
    assert state.extracted_to == 8
    assert state.cleared_at == stage.clock()
    assert [pruning.cause for pruning in state.prunings] == ["usage", "cleared"]
    assert state.restorable == Restorable(stage.clock() + UNDO_S, "cleared", 6)
    await stage.tell(control("restore"))
    await stage.checkpoint()
    state = await stage.projected_state()
    assert (state.restorable, state.cleared_at, state.prunings[-1].undone_at) == (None, None, stage.clock())


async def test_the_erased_user_of_a_window_with_other_speakers_is_not_projected(stage):
    await stage.say(said(1, user_id="ada"), said(2, user_id="bob"))
    await stage.checkpoint()
    assert (await stage.projected_state()).scope.user_id == "ada"
    await stage.tell(control("erase", at=datetime.now(UTC), users=("ada",)))
    await stage.checkpoint()
    state = await stage.projected_state()
    assert (state.scope.user_id, state.statistics.total_messages) == ("bob", 1)


async def test_a_window_with_many_changes_is_projected_once_per_turn(stage):
    for number in range(5):
        await stage.say(said(number))
        await stage.checkpoint()
    calls = []
    project = stage.windows.project

    async def counted(states):
        calls.append(len(states))
        return await project(states)

    stage.windows.project = counted
    assert (await stage.projected_state()).statistics.total_messages == 5
    await stage.projected_state()
    assert calls == [1]


async def test_a_conversation_with_a_window_in_another_partition_is_logged_once(stage, caplog):
    await stage.windows.project([a_state(CONVERSATION, partition=ASTRAY)])
    for number in range(2):
        await stage.say(said(number))
        await stage.checkpoint()
        await stage.projection.project(AT)
    (line,) = [each for each in caplog.messages if CONVERSATION in each]
    assert line.startswith(f"1 conversation in several partitions, such as '{CONVERSATION}': ")


async def test_a_failed_projection_is_retried_at_the_next_turn(stage):
    await stage.say(said(1))
    await stage.checkpoint()
    stage.windows.failures.append(Retryable("Postgres is away"))
    with pytest.raises(Retryable):
        await stage.projection.project(AT)
    assert (await stage.projected_state()).statistics.total_messages == 1


async def test_the_next_owner_projects_windows_that_a_crash_left_unprojected(stage):
    await stage.say(said(1), said(2, conversation_id="another"))
    await stage.checkpoint()
    await stage.app.end_epoch()
    successor = Projected(stage.app.broker, stage.clock, windows=stage.windows)
    successor.offsets = dict(stage.offsets)
    await successor.begin()
    assert (await successor.projected_state()).statistics.total_messages == 1
    assert (await successor.projected_state("another")).statistics.total_messages == 1


async def test_an_expired_window_is_projected_as_forgotten(stage):
    await stage.say(said(1))
    await stage.checkpoint()
    await stage.projected_state()
    await forget(stage)
    assert (await stage.projected_state()).phase == "forgotten"
    await stage.say(said(5))
    await stage.checkpoint()
    state = await stage.projected_state()
    assert (state.phase, state.opened) == ("open", 1)


async def test_the_next_owner_projects_a_window_as_forgotten_that_expired_before_a_crash(stage):
    await stage.say(said(1))
    await stage.checkpoint()
    await stage.projected_state()
    await forget(stage)
    await stage.app.end_epoch()
    successor = Projected(stage.app.broker, stage.clock, windows=stage.windows)
    successor.offsets = dict(stage.offsets)
    await successor.begin()
    stage.windows.failures.append(Retryable("Postgres is away"))
    with pytest.raises(Retryable):
        await successor.projection.project(AT)
    assert (await successor.projected_state()).phase == "forgotten"


async def test_an_end_event_in_another_partition_neither_hides_nor_forgets_the_real_window():
    stage = await Projected().begin(frozenset({PARTITION, ASTRAY}))
    for _ in (PARTITION, ASTRAY):
        await stage.projection.project(AT)
    await stage.say(said(1), said(2))
    await stage.agent.handle(stage.batch(ENDED, [ended()], partition=ASTRAY))
    await stage.checkpoint()
    state = await stage.projected_state()
    assert (state.partition, state.phase, state.statistics.total_messages) == (PARTITION, "open", 2)
    assert stage.windows.states[CONVERSATION, ASTRAY].statistics.total_messages == 0
    for wait_s in (NAMELESS.straggler_wait_s, NAMELESS.grace_s):
        stage.clock.advance(wait_s)
        await stage.agent.handle(stage.batch(CONTROL, await stage.due(), partition=ASTRAY))
    await stage.checkpoint()
    assert await stage.projected_state() == state
    assert stage.windows.states[CONVERSATION, ASTRAY].phase == "forgotten"


async def forget(stage: Stage) -> None:
    """The window's extraction is answered and its grace period passes."""
    await stage.tell(control("flush"))
    await stage.checkpoint()
    await stage.tell(control("extraction_completed", request_id=stage.requests[-1].request_id))
    stage.clock.advance(POLICY.triggers.abandoned_s + POLICY.grace_s)
    await stage.tell(*await stage.due())
    await stage.checkpoint()
    assert stage.app.broker.rows(PARTITION) == {}


@pytest.mark.parametrize("phase", [Phase.CLOSING, Phase.SHUT])
async def test_nothing_is_projected_unless_the_epoch_is_open(stage, phase):
    await stage.say(said(1))
    await stage.checkpoint()
    stage.app.fence.phase = phase
    assert await stage.projected_state() is None
    stage.app.fence.phase = Phase.OPEN
    assert await stage.projected_state() is not None


async def test_a_thousand_windows_are_all_projected(stage):
    await stage.deliver(MESSAGES, *(said(n, conversation_id=f"c{n}") for n in range(1_000)))
    await stage.checkpoint()
    await stage.projected_state()
    assert len(stage.windows.states) == 1_000
