"""A server process under a guard: start, wait until ready, stop, kill."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from deploy.embedded import guard
from deploy.embedded.errors import EmbeddedPartFailed, log_tail

POLL_S = 0.05
PROJECT = Path(__file__).parents[2]

Probe = Callable[[], Awaitable[bool]]


@dataclass
class GuardedProcess:
    """A child server that never outlives this process. It can be started again after `stop` or `kill`."""

    name: str
    command: Sequence[str]
    log_path: Path
    stop_signal: str = "TERM"
    grace_s: float = 10.0
    unprivileged: bool = False
    owned: Sequence[Path] = ()
    lock_path: Path | None = None
    lock_wait_s: float = 15.0
    stale: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    _guard: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)
    _pid: int | None = field(default=None, init=False, repr=False)

    def start(self) -> None:
        """Starts guard and server, and returns at once. Raises RuntimeError if they are running."""
        if self.running:
            raise RuntimeError(f"{self.name} is already running; stop it first")
        self._close()
        with self.log_path.open("ab") as log:
            self._guard = subprocess.Popen(
                self._guard_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=module_environment() | dict(self.environment),
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        """Whether guard and server are running."""
        return self._guard is not None and self._guard.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the server. Blocks until the guard has started it."""
        if self._pid is None:
            if self._guard is None or self._guard.stdout is None:
                raise RuntimeError(f"{self.name} has not been started")
            line = self._guard.stdout.readline()
            if not line:
                raise self.exited()
            self._pid = int(line)
        return self._pid

    async def wait_ready(self, probe: Probe, timeout_s: float) -> None:
        """Returns once the probe returns true; an OSError of the probe means not yet. Raises EmbeddedPartFailed if the
        process exits, or after `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while True:
            if not self.running:
                raise self.exited()
            with suppress(OSError, EOFError):
                if await probe():
                    return
            if time.monotonic() > deadline:
                raise EmbeddedPartFailed(
                    self.name,
                    f"not ready after {timeout_s:g} s",
                    f"See {self.log_path}; on a loaded machine try again.",
                    log_tail(self.log_path),
                )
            await asyncio.sleep(POLL_S)

    async def wait(self, timeout_s: float) -> int:
        """The exit code of a command that ends by itself; kills it after `timeout_s`."""
        if self._guard is None:
            raise RuntimeError(f"{self.name} has not been started")
        try:
            return await asyncio.to_thread(self._guard.wait, timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            self._close()

    async def stop(self) -> None:
        """Stops the server and waits; kills it after the grace period. Does nothing if it is not running."""
        if self._guard is None:
            return
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        await asyncio.to_thread(self._guard.wait, self.grace_s + 10)
        self._close()

    def kill(self) -> None:
        """Sends SIGKILL to the server, as a crash would, and waits for its end."""
        if self._guard is None:
            return
        if self.running:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._guard.wait(timeout=10)
        self._close()

    def _guard_command(self) -> list[str]:
        options = ["--stop-signal", self.stop_signal, "--grace-s", str(self.grace_s)]
        if self.lock_path is not None:
            options += ["--lock", str(self.lock_path), "--lock-wait-s", str(self.lock_wait_s)]
        for path in self.stale:
            options += ["--stale", str(path)]
        if self.unprivileged:
            options.append("--unprivileged")
        for path in self.owned:
            options += ["--owned", str(path)]
        return [sys.executable, "-m", guard.__name__, *options, "--", *self.command]

    def exited(self) -> EmbeddedPartFailed:
        """The error of a process that ended by itself, with its exit code or the signal that ended it."""
        code = None if self._guard is None else self._guard.poll()
        if code == guard.EXIT_LOCKED:
            return EmbeddedPartFailed(
                self.name, "its data directory is in use", "Stop the other memstream that runs on it."
            )
        happened = f"exited with code {code}"
        if code is not None and code - 128 in set(signal.Signals):
            happened = f"ended by {signal.Signals(code - 128).name}"
        return EmbeddedPartFailed(self.name, happened, f"The whole log is in {self.log_path}.", log_tail(self.log_path))

    def _close(self) -> None:
        if self._guard is not None:
            for stream in (self._guard.stdin, self._guard.stdout):
                if stream is not None:
                    stream.close()
        self._guard = None
        self._pid = None


def module_environment() -> dict[str, str]:
    """The environment with a PYTHONPATH by which children find these packages from any working directory."""
    path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}
