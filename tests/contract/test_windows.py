"""Projected windows in memory and on PostgreSQL keep and refuse alike."""

import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.messages import Scope
from schemas.windows import Gap, LastPrune, WindowState
from sinks.postgres import connect
from sinks.windows import Windows
from tests.fakes.windows import AT_S, FakeWindows, a_pruning, a_state
from tests.hostile_text import HARD_TO_STORE

AnyWindows: TypeAlias = Windows | FakeWindows

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MUCH_LATER = datetime(2100, 1, 1, tzinfo=UTC)  # than anything that is projected


@pytest.fixture(params=["fake", "postgres"])
async def windows(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[AnyWindows]:
    if request.param == "fake":
        yield FakeWindows()
        return
    pool = await connect(dsn, max_size=4)
    yield Windows(pool)
    await pool.close()


async def test_a_state_comes_back_as_it_was_projected(windows: AnyWindows, name: str) -> None:
    whole = a_state(
        name,
        scope=Scope(conversation_id=name, tenant_id="t", app_id="a", user_id="u", agent_id="g", mode="m"),
        phase="ended",
        model="claude",
        gaps=(Gap(1, 8, 8, 90), Gap(10, 12, 3, 40, "They talked of tea.", 6)),
        prunings=(a_pruning(1), a_pruning(2)),
        opened=2**33,
        extracted_to=2**40,
        cleared_at=AT_S + 0.000001,
        statistics=replace(a_state().statistics, last_prune=LastPrune(AT_S, "manual", 3), percent_used=1e-7),
    )
    await windows.project([whole])
    assert await windows.of(name) == whole


async def test_a_state_of_which_little_is_known_comes_back_too(windows: AnyWindows, name: str) -> None:
    little = a_state(name, scope=Scope(conversation_id=name), revision=0)
    await windows.project([little])
    assert await windows.of(name) == little


async def test_nothing_is_known_of_a_conversation_without_a_window(windows: AnyWindows, name: str) -> None:
    assert await windows.of(name) is None
    assert await windows.prunings(name) == ()


async def test_projecting_and_forgetting_nothing_is_nothing(windows: AnyWindows, name: str) -> None:
    await windows.project([])
    await windows.forget([], 3, "changelog", 1, NOON)
    assert await windows.of(name) is None


async def test_a_later_state_replaces_all_of_an_earlier_one(windows: AnyWindows, name: str) -> None:
    await windows.project([a_state(name, 1, model="claude", gaps=(Gap(1, 2, 2, 9),), extracted_to=5, cleared_at=AT_S)])
    await windows.project([later := a_state(name, 2, scope=Scope(conversation_id=name), phase="ended", policy="other")])
    assert await windows.of(name) == later


async def test_a_late_owner_overwrites_nothing(windows: AnyWindows, name: str) -> None:
    await windows.project([newer := a_state(name, 9)])
    await windows.project([a_state(name, 8, phase="ended")])
    assert await windows.of(name) == newer


async def test_a_newer_row_keeps_none_of_the_other_states_of_a_call_from_being_stored(
    windows: AnyWindows, name: str
) -> None:
    await windows.project([a_state(name, 9)])
    await windows.project([a_state(name, 8), other := a_state(f"{name} 2", 8)])
    assert await windows.of(f"{name} 2") == other


async def test_a_state_of_another_source_replaces_a_row_whatever_its_revision(windows: AnyWindows, name: str) -> None:
    await windows.project([a_state(name, 9, "old changelog")])
    await windows.project([moved := a_state(name, 1, "new changelog")])
    assert await windows.of(name) == moved
    await windows.project([a_state(name, 0, "new changelog")])
    assert await windows.of(name) == moved


async def test_a_state_of_the_same_revision_is_taken_again(windows: AnyWindows, name: str) -> None:
    await windows.project([a_state(name, 4)])
    await windows.project([again := a_state(name, 4, phase="ended")])
    assert await windows.of(name) == again


async def test_a_log_of_states_replayed_from_its_beginning_changes_nothing(windows: AnyWindows, name: str) -> None:
    log = [a_state(name, revision, prunings=(a_pruning(revision),)) for revision in (1, 2, 3)]
    for state in (*log, *log[:2]):
        await windows.project([state])
    assert await windows.of(name) == replace(log[-1], prunings=(a_pruning(1), a_pruning(2), a_pruning(3)))


async def test_the_latest_of_several_states_of_one_conversation_counts(windows: AnyWindows, name: str) -> None:
    states = [a_state(name, revision, prunings=(a_pruning(revision),)) for revision in (1, 3, 2)]
    await windows.project(states)
    assert await windows.of(name) == replace(states[1], prunings=(a_pruning(1), a_pruning(2), a_pruning(3)))


async def test_prunings_of_a_late_state_are_added_all_the_same(windows: AnyWindows, name: str) -> None:
    await windows.project([newer := a_state(name, 9, prunings=(a_pruning(2),))])
    await windows.project([a_state(name, 8, prunings=(a_pruning(1),))])
    assert await windows.of(name) == replace(newer, prunings=(a_pruning(1), a_pruning(2)))


async def test_a_pruning_told_twice_is_kept_as_it_was_told_first(windows: AnyWindows, name: str) -> None:
    await windows.project([a_state(name, prunings=(a_pruning(1), a_pruning(1)))])
    await windows.project([a_state(name, prunings=(replace(a_pruning(1), cause="manual"),))])
    assert await windows.prunings(name) == (a_pruning(1),)


async def test_prunings_of_a_reopened_window_stand_beside_those_of_its_first_life(
    windows: AnyWindows, name: str
) -> None:
    first, second = a_pruning(1, AT_S), a_pruning(1, AT_S + 86_400)
    await windows.project([a_state(name, 1, prunings=(first,))])
    await windows.project([a_state(name, 5, prunings=(second,))])
    assert await windows.prunings(name) == (second, first)


async def test_prunings_are_read_newest_first_and_a_state_tells_of_the_latest_twenty(
    windows: AnyWindows, name: str
) -> None:
    every = tuple(a_pruning(number) for number in range(1, 121))
    for start in range(0, 120, 20):
        await windows.project([a_state(name, prunings=every[start : start + 20])])
    assert (await windows.of(name) or a_state()).prunings == every[-20:]
    assert await windows.prunings(name) == every[:-101:-1]
    assert await windows.prunings(name, limit=3) == (every[-1], every[-2], every[-3])


async def test_prunings_at_the_same_moment_are_in_order_of_their_numbers(windows: AnyWindows, name: str) -> None:
    tenth, ninth = a_pruning(10, AT_S), a_pruning(9, AT_S)
    await windows.project([a_state(name, prunings=(ninth, tenth))])
    assert await windows.prunings(name) == (tenth, ninth)
    assert (await windows.of(name) or a_state()).prunings == (ninth, tenth)


async def test_a_forgotten_window_stays_known_as_forgotten(windows: AnyWindows, name: str) -> None:
    await windows.project([state := a_state(name, 4, prunings=(a_pruning(),)), other := a_state(f"{name} 2", 4)])
    await windows.forget([name], 3, "changelog", 7, NOON)
    assert await windows.of(name) == replace(state, phase="forgotten", revision=7)
    assert await windows.of(f"{name} 2") == other


async def test_what_was_not_told_of_since_is_forgotten_in_its_partition_only(windows: AnyWindows, name: str) -> None:
    told = {"older": (4, "changelog", 3), "newer": (5, "changelog", 3), "elsewhere": (4, "changelog", 2)}
    for which, (revision, source, partition) in told.items():
        await windows.project([a_state(f"{name} {which}", revision, source, partition=partition)])
    await windows.forget_older("changelog", 3, 5, NOON)
    states = {which: await windows.of(f"{name} {which}") for which in told}
    assert {which: state.phase for which, state in states.items() if state} == dict.fromkeys(told, "open") | {
        "older": "forgotten"
    }
    await windows.project([a_state(f"{name} older", 4, partition=3)])
    assert states["older"] == await windows.of(f"{name} older"), "a late owner opens nothing"


async def test_windows_of_a_changelog_that_was_made_anew_do_not_stay_open(windows: AnyWindows, name: str) -> None:
    here, elsewhere = (a_state(f"{name} {partition}", 9, "old changelog", partition=partition) for partition in (3, 2))
    await windows.project([here, elsewhere])
    await windows.forget_older("new changelog", 3, 5, NOON)
    assert await windows.of(f"{name} 3") == replace(here, phase="forgotten", source="new changelog", revision=5)
    assert await windows.of(f"{name} 2") == elsewhere


async def test_an_end_event_that_went_astray_hides_the_real_window_at_no_time(windows: AnyWindows, name: str) -> None:
    await windows.project([real := a_state(name, 5, partition=2, prunings=(a_pruning(1),))])
    assert await windows.of(name) == real
    await windows.project([empty(name, 900, partition=3)])
    assert await windows.of(name) == real
    await windows.project([later := a_state(name, 6, partition=2)])
    assert await windows.of(name) == replace(later, prunings=(a_pruning(1),))
    await windows.forget([name], 3, "changelog", 950, MUCH_LATER)
    assert await windows.of(name) == replace(later, prunings=(a_pruning(1),))
    await windows.project([latest := a_state(name, 7, partition=2, phase="ended", prunings=(a_pruning(2),))])
    assert await windows.of(name) == replace(latest, prunings=(a_pruning(1), a_pruning(2)))
    assert await windows.prunings(name) == (a_pruning(2), a_pruning(1))


async def test_of_two_windows_with_messages_the_one_told_of_last_counts(windows: AnyWindows, name: str) -> None:
    second, third = (a_state(name, 9, partition=partition, prunings=(a_pruning(partition),)) for partition in (2, 3))
    for state in (second, third, second):
        await windows.project([state])
        assert await windows.of(name) == state
        assert await windows.prunings(name) == state.prunings


async def test_a_window_is_forgotten_in_its_partition_only(windows: AnyWindows, name: str) -> None:
    await windows.project([second := a_state(name, 4, partition=2), third := a_state(name, 9, partition=3)])
    for revision, told in ((5, third), (9, second)):
        await windows.forget([name], 3, "changelog", revision, MUCH_LATER)
        assert await windows.of(name) == told
    await windows.project([second])
    await windows.forget([name], 2, "changelog", 4, MUCH_LATER + timedelta(days=1))
    assert await windows.of(name) == replace(second, phase="forgotten")


async def test_a_late_owner_does_not_make_its_window_the_one_that_counts(windows: AnyWindows, name: str) -> None:
    for state in (a_state(name, 9, partition=2), counts := a_state(name, 1, partition=3)):
        await windows.project([state])
    await windows.project([a_state(name, 8, partition=2)])
    assert await windows.of(name) == counts


async def test_a_window_without_messages_is_told_of_where_there_is_no_other(windows: AnyWindows, name: str) -> None:
    await windows.project([empty(name, 9, partition=2)])
    await windows.project([ended := empty(name, 1, partition=3)])
    assert await windows.of(name) == ended
    assert await windows.prunings(name) == ()


async def test_windows_of_one_conversation_in_two_partitions_are_projected_in_one_call(
    windows: AnyWindows, name: str
) -> None:
    states = [a_state(name, 5, partition=2), a_state(name, 4, partition=2), empty(name, 900, partition=3)]
    await windows.project([replace(state, prunings=(a_pruning(state.revision),)) for state in states])
    assert await windows.of(name) == replace(states[0], prunings=(a_pruning(4), a_pruning(5)))


def empty(conversation_id: str, revision: int, partition: int) -> WindowState:
    """Of a window that nothing was said in."""
    nothing = replace(a_state().statistics, total_messages=0, messages_in_context=0, pruned_messages=0, total_tokens=0)
    return a_state(conversation_id, revision, partition=partition, phase="ended", statistics=nothing)


async def test_forgetting_a_window_that_was_never_projected_leaves_no_row(windows: AnyWindows, name: str) -> None:
    await windows.forget([name], 3, "changelog", 7, NOON)
    assert await windows.of(name) is None


async def test_a_late_owner_forgets_nothing(windows: AnyWindows, name: str) -> None:
    await windows.project([newer := a_state(name, 9)])
    await windows.forget([name], 3, "changelog", 8, NOON)
    assert await windows.of(name) == newer


async def test_a_state_that_is_late_does_not_open_a_forgotten_window_and_a_later_one_does(
    windows: AnyWindows, name: str
) -> None:
    await windows.project([first := a_state(name, 4)])
    await windows.forget([name], 3, "changelog", 7, NOON)
    await windows.project([first])
    assert (await windows.of(name) or first).phase == "forgotten"
    await windows.project([reopened := a_state(name, 8)])
    assert await windows.of(name) == reopened


async def test_a_window_is_forgotten_under_another_source(windows: AnyWindows, name: str) -> None:
    await windows.project([state := a_state(name, 9, "old changelog")])
    await windows.forget([name], 3, "new changelog", 2, NOON)
    assert await windows.of(name) == replace(state, phase="forgotten", source="new changelog", revision=2)


@pytest.mark.parametrize("text", HARD_TO_STORE)
async def test_hostile_text_is_stored_but_for_nul(windows: AnyWindows, name: str, text: str) -> None:
    stored, hostile = ({"c": f"{name}{each}", "text": each} for each in (text.replace("\x00", "\ufffd"), text))
    await windows.project([everywhere(**hostile)])
    expected = everywhere(**stored)
    assert await windows.of(hostile["c"]) == await windows.of(stored["c"]) == expected
    assert await windows.prunings(hostile["c"]) == expected.prunings
    await windows.forget([hostile["c"]], 3, hostile["text"], 1, NOON)
    assert await windows.of(hostile["c"]) == replace(expected, phase="forgotten")


def everywhere(c: str, text: str) -> WindowState:
    """A state with the text wherever it goes."""
    return a_state(
        c,
        source=text,
        scope=Scope(conversation_id=c, tenant_id=text, app_id=text, user_id=text, agent_id=text, mode=text),
        policy=text,
        model=text,
        gaps=(Gap(1, 2, 2, 9, text * 40, 9),),
        prunings=(a_pruning(),),
        statistics=replace(a_state().statistics, explanation=text),
    )


async def test_two_conversations_that_become_one_without_nul_do_not_fail_the_rest(
    windows: AnyWindows, name: str
) -> None:
    alike = [a_state(f"{name}\x00", 2), a_state(f"{name}\ufffd", 1)]
    await windows.project([*alike, other := a_state(name)])
    assert await windows.of(name) == other
    assert (await windows.of(f"{name}\x00") or other).revision == 2


class Step(NamedTuple):
    """A call about one conversation of three."""

    call: Literal["project", "forget", "forget_older"]
    number: int
    partition: int
    source: str
    revision: int
    at: datetime
    said: bool  # whether there are messages


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["project", "project", "forget", "forget_older"]),
        st.integers(1, 3),
        st.sampled_from([2, 3]),
        st.sampled_from("ab"),
        st.integers(1, 6),
        st.sampled_from([NOON, MUCH_LATER]),
        st.booleans(),
    ),
    max_size=20,
)


def stated(step: Step, name: str) -> WindowState:
    fields = {"source": step.source, "partition": step.partition, "prunings": (a_pruning(step.revision),)}
    state = a_state(f"{name} {step.number}", step.revision, **fields)
    total_messages = 20 if step.said else 0
    return replace(state, statistics=replace(state.statistics, total_messages=total_messages))


async def play(windows: AnyWindows, name: str, steps: list[Step]) -> None:
    """States that follow each other are projected in one call."""
    for call, together in itertools.groupby(steps, attrgetter("call")):
        if call == "project":
            await windows.project([stated(step, name) for step in together])
            continue
        for step in together:
            if call == "forget":
                ids = [f"{name} {step.number}"]
                await windows.forget(ids, step.partition, step.source, step.revision, step.at)
            else:
                await windows.forget_older(step.source, step.partition, step.revision, step.at)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
async def test_the_fake_and_the_database_agree_after_any_calls(dsn: str, steps: list[Step]) -> None:
    pool = await connect(dsn, max_size=1)
    name = uuid4().hex
    told: list[AnyWindows] = [FakeWindows(), Windows(pool)]
    for windows in told:
        await play(windows, name, steps)
    for number in (1, 2, 3):
        fake, real = [await windows.of(f"{name} {number}") for windows in told]
        assert fake == real
        fake_prunings, real_prunings = [await windows.prunings(f"{name} {number}", 2) for windows in told]
        assert fake_prunings == real_prunings
    await pool.close()
