"""Waits for conditions, and parent processes to kill."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]

Until = Callable[[Callable[[], bool]], None]
Parent = Callable[[str], tuple[subprocess.Popen[str], list[int]]]


@pytest.fixture(scope="session")
def until() -> Until:
    """Returns once a condition holds; fails after 30 s."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come true within 30 s"
            time.sleep(0.02)

    return wait


@pytest.fixture(scope="session")
def gone() -> Callable[[int], bool]:
    """Whether no process has this pid; a zombie counts as gone."""

    def check(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    return check


@pytest.fixture
def parent() -> Iterator[Parent]:
    """Runs Python source as a process that prints the pids of its children and then waits for input."""
    started: list[subprocess.Popen[str]] = []

    def start(source: str) -> tuple[subprocess.Popen[str], list[int]]:
        process = subprocess.Popen(
            [sys.executable, "-c", source],
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return process, [int(pid) for pid in process.stdout.readline().split()]

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
