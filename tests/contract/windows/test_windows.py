"""Projected windows in memory and on PostgreSQL accept and reject the same."""

import pytest
from msgspec.structs import replace

from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap, LastPrune, Restorable, WindowState
from tests.cases.hostile_text import HARD_TO_STORE
from tests.contract.windows.either import NOON, AnyWindows
from tests.fakes.windows import AT_S, a_pruning, a_state


async def test_a_state_is_returned_as_it_was_projected(windows: AnyWindows, name: str) -> None:
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
        adjustments=Adjustments(marks={"m1": "pinned"}),
        restorable=Restorable(AT_S + 600, "manual", 3),
        statistics=replace(a_state().statistics, last_prune=LastPrune(AT_S, "manual", 3), percent_used=1e-7),
    )
    await windows.project([whole])
    assert await windows.of(name) == whole


async def test_a_state_with_only_required_fields_is_returned_as_it_was_projected(
    windows: AnyWindows, name: str
) -> None:
    little = a_state(name, scope=Scope(conversation_id=name), revision=0)
    await windows.project([little])
    assert await windows.of(name) == little


async def test_a_conversation_without_a_window_has_no_state_and_no_prunings(windows: AnyWindows, name: str) -> None:
    assert await windows.of(name) is None
    assert await windows.prunings(name) == ()


async def test_project_and_forget_with_empty_lists_change_nothing(windows: AnyWindows, name: str) -> None:
    await windows.project([])
    await windows.forget([], 3, "changelog", 1, NOON)
    assert await windows.of(name) is None


async def test_a_later_state_replaces_all_of_an_earlier_one(windows: AnyWindows, name: str) -> None:
    await windows.project(
        [
            a_state(
                name,
                1,
                model="claude",
                gaps=(Gap(1, 2, 2, 9),),
                extracted_to=5,
                cleared_at=AT_S,
                adjustments=Adjustments(marks={"m": "pinned"}),
                restorable=Restorable(AT_S, "cleared"),
            )
        ]
    )
    await windows.project([later := a_state(name, 2, scope=Scope(conversation_id=name), phase="ended", policy="other")])
    assert await windows.of(name) == later


async def test_a_state_with_a_lower_revision_overwrites_nothing(windows: AnyWindows, name: str) -> None:
    await windows.project([newer := a_state(name, 9)])
    await windows.project([a_state(name, 8, phase="ended")])
    assert await windows.of(name) == newer


async def test_an_outdated_state_does_not_keep_other_states_of_the_call_from_being_stored(
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


async def test_a_state_of_the_same_revision_replaces_the_stored_one(windows: AnyWindows, name: str) -> None:
    await windows.project([a_state(name, 4)])
    await windows.project([again := a_state(name, 4, phase="ended")])
    assert await windows.of(name) == again


async def test_a_log_of_states_replayed_from_its_beginning_changes_nothing(windows: AnyWindows, name: str) -> None:
    log = [a_state(name, revision, prunings=(a_pruning(revision),)) for revision in (1, 2, 3)]
    for state in (*log, *log[:2]):
        await windows.project([state])
    assert await windows.of(name) == replace(log[-1], prunings=(a_pruning(1), a_pruning(2), a_pruning(3)))


async def test_the_highest_revision_among_states_of_one_call_is_stored(windows: AnyWindows, name: str) -> None:
    states = [a_state(name, revision, prunings=(a_pruning(revision),)) for revision in (1, 3, 2)]
    await windows.project(states)
    assert await windows.of(name) == replace(states[1], prunings=(a_pruning(1), a_pruning(2), a_pruning(3)))


async def test_prunings_of_an_outdated_state_are_still_added(windows: AnyWindows, name: str) -> None:
    await windows.project([newer := a_state(name, 9, prunings=(a_pruning(2),))])
    await windows.project([a_state(name, 8, prunings=(a_pruning(1),))])
    assert await windows.of(name) == replace(newer, prunings=(a_pruning(1), a_pruning(2)))


async def test_a_pruning_projected_twice_keeps_its_first_content(windows: AnyWindows, name: str) -> None:
    await windows.project([a_state(name, prunings=(a_pruning(1), a_pruning(1)))])
    await windows.project([a_state(name, prunings=(replace(a_pruning(1), cause="manual"),))])
    assert await windows.prunings(name) == (a_pruning(1),)


async def test_prunings_of_a_reopened_window_are_kept_beside_earlier_ones(windows: AnyWindows, name: str) -> None:
    first, second = a_pruning(1, AT_S), a_pruning(1, AT_S + 86_400)
    await windows.project([a_state(name, 1, prunings=(first,))])
    await windows.project([a_state(name, 5, prunings=(second,))])
    assert await windows.prunings(name) == (second, first)


async def test_prunings_are_listed_newest_first_and_a_state_contains_the_latest_twenty(
    windows: AnyWindows, name: str
) -> None:
    every = tuple(a_pruning(number) for number in range(1, 121))
    for start in range(0, 120, 20):
        await windows.project([a_state(name, prunings=every[start : start + 20])])
    assert (await windows.of(name) or a_state()).prunings == every[-20:]
    assert await windows.prunings(name) == every[:-101:-1]
    assert await windows.prunings(name, limit=3) == (every[-1], every[-2], every[-3])
    assert await windows.prunings(name, 2, (every[-3].at, every[-3].number)) == (every[-4], every[-5])
    assert await windows.prunings(name, 2, (every[0].at, every[0].number)) == ()


async def test_prunings_at_the_same_moment_are_in_order_of_their_numbers(windows: AnyWindows, name: str) -> None:
    tenth, ninth = a_pruning(10, AT_S), a_pruning(9, AT_S)
    await windows.project([a_state(name, prunings=(ninth, tenth))])
    assert await windows.prunings(name) == (tenth, ninth)
    assert await windows.prunings(name, before=(tenth.at, tenth.number)) == (ninth,)
    assert (await windows.of(name) or a_state()).prunings == (ninth, tenth)


@pytest.mark.parametrize("text", HARD_TO_STORE)
async def test_any_text_is_stored_with_nul_characters_replaced(windows: AnyWindows, name: str, text: str) -> None:
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


async def test_two_conversation_ids_that_collide_after_nul_replacement_do_not_fail_the_call(
    windows: AnyWindows, name: str
) -> None:
    alike = [a_state(f"{name}\x00", 2), a_state(f"{name}\ufffd", 1)]
    await windows.project([*alike, other := a_state(name)])
    assert await windows.of(name) == other
    assert (await windows.of(f"{name}\x00") or other).revision == 2


async def test_the_undo_time_of_a_pruning_is_stored_once(windows: AnyWindows, name: str) -> None:
    undone = replace(a_pruning(1), undone_at=AT_S + 99.5)
    await windows.project([a_state(name, 1, prunings=(a_pruning(1),))])
    await windows.project(
        [a_state(name, 2, prunings=(a_pruning(1),)), a_state(name, 3, prunings=(undone, a_pruning(2)))]
    )
    assert await windows.prunings(name) == (a_pruning(2), undone)
    await windows.project([a_state(name, 4, prunings=(a_pruning(1), replace(undone, undone_at=AT_S)))])
    assert await windows.prunings(name) == (a_pruning(2), undone)
