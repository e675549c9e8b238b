"""A guarded server never outlives its parent, and its failures are reported."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.process import GuardedProcess

SLEEP = ["sleep", "600"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal\nsignal.signal(15, signal.SIG_IGN)\nprint('ready', flush=True)\nsignal.pause()",
]

PARENT = """
import sys
from pathlib import Path
from deploy.embedded.process import GuardedProcess
server = GuardedProcess("test", ["sleep", "600"], Path({log!r}))
server.start()
print(server.pid, server._guard.pid, flush=True)
sys.stdin.read()
"""


async def at_once() -> bool:
    return True


async def never() -> bool:
    return False


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Callable[..., GuardedProcess]]:
    made: list[GuardedProcess] = []

    def make(command: list[str], **options: Any) -> GuardedProcess:
        made.append(GuardedProcess("test", command, tmp_path / "test.log", **options))
        return made[-1]

    yield make
    for process in made:
        await process.stop()


async def test_a_server_is_started_and_stopped(guarded: Any, gone: Any):
    server = guarded(SLEEP)
    server.start()
    await server.wait_ready(at_once, 5)
    pid = server.pid
    assert not gone(pid)
    await server.stop()
    assert gone(pid)
    assert not server.running


async def test_a_stopped_or_killed_server_can_be_started_again(guarded: Any, gone: Any):
    server = guarded(SLEEP)
    server.start()
    first = server.pid
    server.kill()
    assert gone(first)
    server.start()
    assert server.pid != first
    await server.stop()
    server.start()
    assert not gone(server.pid)


async def test_the_error_of_a_killed_server_names_the_signal(guarded: Any, until: Any):
    server = guarded(SLEEP)
    server.start()
    os.kill(server.pid, signal.SIGKILL)
    until(lambda: not server.running)
    assert "test: ended by SIGKILL" in str(server.exited())


async def test_starting_twice_is_refused(guarded: Any):
    server = guarded(SLEEP)
    server.start()
    with pytest.raises(RuntimeError, match="already running"):
        server.start()


def test_a_server_is_gone_after_its_parent_was_killed(parent: Any, until: Any, gone: Any, tmp_path: Path):
    process, pids = parent(PARENT.format(log=str(tmp_path / "log")))
    process.kill()
    until(lambda: all(gone(pid) for pid in pids))


def test_a_server_is_gone_after_its_parent_ended_normally(parent: Any, until: Any, gone: Any, tmp_path: Path):
    process, pids = parent(PARENT.format(log=str(tmp_path / "log")))
    process.stdin.close()
    until(lambda: all(gone(pid) for pid in pids))
    process.wait(10)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal exists on Linux only")
def test_a_server_is_gone_after_its_guard_was_killed(parent: Any, until: Any, gone: Any, tmp_path: Path):
    _, (server, guard) = parent(PARENT.format(log=str(tmp_path / "log")))
    os.kill(guard, signal.SIGKILL)
    until(lambda: gone(server))


async def test_a_server_that_ignores_the_stop_signal_is_killed_after_the_grace(
    guarded: Any, until: Any, gone: Any, tmp_path: Path
):
    server = guarded(STUBBORN, grace_s=0.3)
    server.start()
    until(lambda: "ready" in (tmp_path / "test.log").read_text())
    pid = server.pid
    await server.stop()
    assert gone(pid)


async def test_a_server_that_exits_fails_at_once_with_the_end_of_its_log(guarded: Any):
    server = guarded(["sh", "-c", "echo no such luck; exit 3"])
    server.start()
    with pytest.raises(EmbeddedPartFailed, match=r"test: exited with code 3(?s:.)*no such luck"):
        await server.wait_ready(never, 30)


async def test_a_server_that_is_never_ready_fails_at_the_deadline(guarded: Any):
    server = guarded(SLEEP)
    server.start()
    with pytest.raises(EmbeddedPartFailed, match=r"not ready after 0\.2 s"):
        await server.wait_ready(never, 0.2)


async def test_a_lock_held_by_another_server_is_reported(tmp_path: Path, guarded: Any):
    first = guarded(SLEEP, lock_path=tmp_path / "lock")
    first.start()
    assert first.pid
    second = guarded(SLEEP, lock_path=tmp_path / "lock", lock_wait_s=0.2)
    second.start()
    with pytest.raises(EmbeddedPartFailed, match="data directory is in use"):
        await second.wait_ready(never, 30)


async def test_stale_files_are_removed_only_once_the_lock_is_held(tmp_path: Path, guarded: Any, until: Any):
    stale = tmp_path / "server.pid"
    first = guarded(SLEEP, lock_path=tmp_path / "lock")
    first.start()
    assert first.pid
    stale.write_text("1")
    second = guarded(SLEEP, lock_path=tmp_path / "lock", stale=[stale])
    second.start()
    assert stale.exists()
    first.kill()
    assert second.pid
    assert not stale.exists()


async def test_an_unprivileged_server_is_not_root(guarded: Any, until: Any, tmp_path: Path):
    server = guarded(["sh", "-c", "echo uid $(id -u); exec sleep 600"], unprivileged=True)
    server.start()
    until(lambda: "uid " in (tmp_path / "test.log").read_text())
    assert "uid 0" not in (tmp_path / "test.log").read_text()


async def test_an_ordinary_server_keeps_the_current_user_id(guarded: Any, until: Any, tmp_path: Path):
    server = guarded(["id", "-u"])
    server.start()
    until(lambda: (tmp_path / "test.log").read_text().strip() == str(os.geteuid()))
