"""The projection of a conversation that has windows in two partitions."""

from datetime import timedelta

from msgspec.structs import replace

from schemas.conversations.windows import WindowState
from tests.contract.windows.either import MUCH_LATER, AnyWindows
from tests.fakes.windows import a_pruning, a_state


async def test_an_empty_window_from_a_misrouted_end_event_never_hides_the_real_window(
    windows: AnyWindows, name: str
) -> None:
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


async def test_the_last_projected_one_of_two_windows_with_messages_is_returned(windows: AnyWindows, name: str) -> None:
    second, third = (a_state(name, 9, partition=partition, prunings=(a_pruning(partition),)) for partition in (2, 3))
    for state in (second, third, second):
        await windows.project([state])
        assert await windows.of(name) == state
        assert await windows.prunings(name) == state.prunings


async def test_forget_applies_only_to_the_window_of_its_partition(windows: AnyWindows, name: str) -> None:
    await windows.project([second := a_state(name, 4, partition=2), third := a_state(name, 9, partition=3)])
    for revision, prunings in ((5, third), (9, second)):
        await windows.forget([name], 3, "changelog", revision, MUCH_LATER)
        assert await windows.of(name) == prunings
    await windows.project([second])
    await windows.forget([name], 2, "changelog", 4, MUCH_LATER + timedelta(days=1))
    assert await windows.of(name) == replace(second, phase="forgotten")


async def test_an_outdated_state_does_not_make_its_window_the_returned_one(windows: AnyWindows, name: str) -> None:
    for state in (a_state(name, 9, partition=2), counts := a_state(name, 1, partition=3)):
        await windows.project([state])
    await windows.project([a_state(name, 8, partition=2)])
    assert await windows.of(name) == counts


async def test_a_window_without_messages_is_returned_if_there_is_no_other(windows: AnyWindows, name: str) -> None:
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
    """Returns the state of a window without messages."""
    nothing = replace(a_state().statistics, total_messages=0, messages_in_context=0, pruned_messages=0, total_tokens=0)
    return a_state(conversation_id, revision, partition=partition, phase="ended", statistics=nothing)


async def test_project_returns_the_conversations_that_have_an_active_window_in_another_partition(
    windows: AnyWindows, name: str
) -> None:
    assert await windows.project([a_state(name, 1, partition=2), a_state(f"{name} 2", 1, partition=2)]) == ()
    assert await windows.project([a_state(name, 1, partition=3), a_state(f"{name} 3", 1)]) == (name,)
    assert await windows.project([a_state(name, 2, partition=2)]) == (name,)
    await windows.forget([name], 3, "changelog", 5, MUCH_LATER)
    assert await windows.project([a_state(name, 3, partition=2)]) == ()
