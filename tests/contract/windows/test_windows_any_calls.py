"""The fake and the database agree for any sequence of calls."""

import itertools
from datetime import datetime
from operator import attrgetter
from typing import Literal, NamedTuple
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.conversations.windows import WindowState
from sinks.postgres.connection import connect
from sinks.windows.projection import Windows
from tests.contract.windows.either import MUCH_LATER, NOON, AnyWindows
from tests.fakes.windows import FakeWindows, a_pruning, a_state


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
async def test_fake_and_database_return_the_same_windows_after_any_sequence_of_calls(
    dsn: str, steps: list[Step]
) -> None:
    pool = await connect(dsn, max_size=1)
    name = uuid4().hex
    implementations: list[AnyWindows] = [FakeWindows(), Windows(pool)]
    for windows in implementations:
        await play(windows, name, steps)
    for number in (1, 2, 3):
        fake, real = [await windows.of(f"{name} {number}") for windows in implementations]
        assert fake == real
        fake_prunings, real_prunings = [await windows.prunings(f"{name} {number}", 2) for windows in implementations]
        assert fake_prunings == real_prunings
    await pool.close()
