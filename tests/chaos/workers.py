"""Worker processes of a chaos run, each with its own data directory and log."""

import asyncio
import os
import signal
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from deploy.runtime.dev import environment
from deploy.settings import Settings
from tests.chaos.preloaded import ForkedCommand

LAST_LINES = 30  # of the log, in the error of a process that does not become ready


class Process(Protocol):
    """The methods of `subprocess.Popen` that are used here."""

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...

    def send_signal(self, number: signal.Signals) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class WorkerProcess:
    """A named worker. `start` after `kill` starts a new process on the same data directory."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        directory: Path,
        stages: Iterable[str] = (),
        paces: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self._paces = paces
        self._stages = [word for stage in stages for word in ("--stage", stage)]
        self.ready_file = directory / f"{name}.ready"
        self._log = directory / f"{name}.log"
        self._log_from = 0
        own = settings.model_copy(update={"data_dir": directory / name})
        self._environment = {**os.environ, **environment(own)}

    def start(self) -> None:
        self.ready_file.unlink(missing_ok=True)
        self._log.touch()  # the child opens it later, and `log_lines` may be called before
        self._process = self.launched()

    def launched(self) -> Process:
        """Starts the process; it reads its settings from the environment and touches the ready file once it has
        joined."""
        return ForkedCommand(self.arguments(), self._environment, self._log, paces=self._paces)

    def arguments(self) -> list[str]:
        return ["worker", "--ready-file", str(self.ready_file), *self._stages]

    @property
    def ready_text(self) -> str:
        return self.ready_file.read_text()

    @property
    def ready(self) -> bool:
        return self.ready_file.exists()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    async def wait_ready(self, timeout_s: float = 180.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not self.ready:
            if not self.running or time.monotonic() > deadline:
                ended = "" if self.running else f" and ended with {self.exit_code}"
                last_lines = "\n".join(self.log_lines()[-LAST_LINES:])
                raise RuntimeError(f"{self.name} did not become ready{ended}; the end of {self._log}:\n{last_lines}")
            await asyncio.sleep(0.05)

    def forget_log(self) -> None:
        """From now on, `log_lines` returns only later lines."""
        self._log_from = self._log.stat().st_size

    def log_lines(self) -> list[str]:
        with self._log.open("rb") as log:
            log.seek(self._log_from)
            return log.read().decode("utf-8", "replace").splitlines()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def stop(self, timeout_s: float = 30.0) -> int:
        """Sends SIGTERM and returns the exit code. Kills a worker that does not stop, and raises TimeoutError."""
        self._process.terminate()
        deadline = time.monotonic() + timeout_s
        while (code := self.exit_code) is None:
            if time.monotonic() > deadline:
                self.kill()
                raise TimeoutError(f"{self.name} did not stop within {timeout_s:g} s; see {self._log}")
            await asyncio.sleep(0.02)
        return code


class ApiProcess(WorkerProcess):
    """The HTTP API on a free port, without keys by default; `ready_text` is its address."""

    def __init__(self, name: str, settings: Settings, directory: Path, options: Iterable[str] = ("--no-keys",)) -> None:
        super().__init__(name, settings, directory)
        self._options = list(options)

    def arguments(self) -> list[str]:
        return ["serve", *self._options, "--port", "0", "--ready-file", str(self.ready_file)]

    @property
    def ready(self) -> bool:
        return super().ready and bool(self.ready_text)
