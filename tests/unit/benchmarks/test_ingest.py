"""bench-ingest reports the least disturbed stretch of a run and limits its CPUs."""

import os
import subprocess
import sys
from collections.abc import Iterable

import pytest

from agents.windows.agent import WindowAgent
from tests.benchmarks.machine import PINS
from tests.benchmarks.measure import SETTLED_S, STRETCH_S, least_us
from tests.benchmarks.memstream_pipeline import TimedAgent
from tests.benchmarks.signals import Tokenised
from tests.fakes.chats import message

TOKENISE_US = 10.0


def signals_of(costs_us: Iterable[float]) -> list[Tokenised]:
    """A signal a second, each after 1,000 more messages that cost so much besides tokenising."""
    signals = [Tokenised(0, 0.0, 0.0, 0.0)]
    for cost in costs_us:
        last = signals[-1]
        counted, process_us = last.cpu_us + 1_000 * TOKENISE_US, last.process_us + 1_000 * (cost + TOKENISE_US)
        signals.append(Tokenised(last.messages + 1_000, counted, process_us, last.monotonic_s + 1.0))
    return signals


def test_the_best_stretch_is_two_seconds_on_end_and_not_the_first():
    assert (SETTLED_S, STRETCH_S) == (1.0, 2.0)
    assert least_us(signals_of([1.0, 60.0, 40.0, 50.0, 30.0, 80.0])) == 40.0


def test_a_run_that_is_too_short_has_no_best_stretch():
    assert least_us(signals_of([60.0, 40.0])) is None


@pytest.mark.skipif(not PINS or len(os.sched_getaffinity(0)) < 2, reason="takes Linux, and two CPUs to choose from")
def test_a_process_and_its_children_run_on_no_more_cpus_than_given():
    child = "import os; print(len(os.sched_getaffinity(0)))"
    parent = f"""import subprocess, sys
from tests.benchmarks.machine import machine, use_cpus
use_cpus(1)
print(machine()["used"], flush=True)
subprocess.run([sys.executable, "-c", {child!r}], check=True)
"""
    ran = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "1"]


def test_token_counting_is_timed_by_overriding_an_existing_method_of_the_window_agent():
    """A run waits for that figure: under a name that the agent does not call, it would wait for ever."""
    assert "counted_messages" in vars(TimedAgent) and callable(WindowAgent.counted_messages)
    agent = object.__new__(TimedAgent)
    agent._count_tokens = len
    assert agent.counted_messages([(None, message(1)), (None, message(2))]) and agent.messages == 2
