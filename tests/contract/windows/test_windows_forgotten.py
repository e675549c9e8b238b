"""A projected window is forgotten by its own partition only, keeps its state, and reopens only at a higher revision."""

from msgspec.structs import replace

from tests.contract.windows.either import NOON, AnyWindows
from tests.fakes.windows import a_pruning, a_state


async def test_a_forgotten_window_keeps_its_state_with_phase_forgotten(windows: AnyWindows, name: str) -> None:
    await windows.project([state := a_state(name, 4, prunings=(a_pruning(),)), other := a_state(f"{name} 2", 4)])
    await windows.forget([name], 3, "changelog", 7, NOON)
    assert await windows.of(name) == replace(state, phase="forgotten", revision=7)
    assert await windows.of(f"{name} 2") == other


async def test_forget_older_forgets_windows_below_the_revision_in_its_partition_only(
    windows: AnyWindows, name: str
) -> None:
    positions = {"older": (4, "changelog", 3), "newer": (5, "changelog", 3), "elsewhere": (4, "changelog", 2)}
    for which, (revision, source, partition) in positions.items():
        await windows.project([a_state(f"{name} {which}", revision, source, partition=partition)])
    await windows.forget_older("changelog", 3, 5, NOON)
    states = {which: await windows.of(f"{name} {which}") for which in positions}
    assert {which: state.phase for which, state in states.items() if state} == dict.fromkeys(positions, "open") | {
        "older": "forgotten"
    }
    await windows.project([a_state(f"{name} older", 4, partition=3)])
    assert states["older"] == await windows.of(f"{name} older"), "a late owner opens nothing"


async def test_forget_older_forgets_windows_of_the_changelog_that_a_new_one_replaced(
    windows: AnyWindows, name: str
) -> None:
    here, elsewhere = (a_state(f"{name} {partition}", 9, "old changelog", partition=partition) for partition in (3, 2))
    await windows.project([here, elsewhere])
    await windows.forget_older("new changelog", 3, 5, NOON)
    assert await windows.of(f"{name} 3") == replace(here, phase="forgotten", source="new changelog", revision=5)
    assert await windows.of(f"{name} 2") == elsewhere


async def test_forgetting_a_window_that_was_never_projected_leaves_no_row(windows: AnyWindows, name: str) -> None:
    await windows.forget([name], 3, "changelog", 7, NOON)
    assert await windows.of(name) is None


async def test_forget_with_a_lower_revision_changes_nothing(windows: AnyWindows, name: str) -> None:
    await windows.project([newer := a_state(name, 9)])
    await windows.forget([name], 3, "changelog", 8, NOON)
    assert await windows.of(name) == newer


async def test_a_forgotten_window_is_reopened_only_by_a_state_with_a_higher_revision(
    windows: AnyWindows, name: str
) -> None:
    await windows.project([first := a_state(name, 4)])
    await windows.forget([name], 3, "changelog", 7, NOON)
    await windows.project([first])
    assert (await windows.of(name) or first).phase == "forgotten"
    await windows.project([reopened := a_state(name, 8)])
    assert await windows.of(name) == reopened


async def test_forget_from_another_source_applies_whatever_the_revision(windows: AnyWindows, name: str) -> None:
    await windows.project([state := a_state(name, 9, "old changelog")])
    await windows.forget([name], 3, "new changelog", 2, NOON)
    assert await windows.of(name) == replace(state, phase="forgotten", source="new changelog", revision=2)
