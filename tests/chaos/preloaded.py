"""Runs memstream's commands in processes forked from one that has imported them and loaded the models; a start takes four
seconds of a core otherwise.

What is started anew is a process like any other, with an environment, a log and a life of its own. That the command line works
when Python starts from nothing is what the tests of the command line, of `memstream dev` and of the demo say.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import chdir
from importlib import import_module
from multiprocessing import forkserver
from pathlib import Path
from types import MappingProxyType

from deploy.cli import terminal
from deploy.cli.main import main
from deploy.embedded.postgres.unprivileged import die_with_parent

ROOT = Path(__file__).parents[2]
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload([__name__, "tests.chaos.preload_imports"])


class ForkedCommand:
    """`memstream` with these arguments, started; has the methods of `subprocess.Popen` that tests call. Complaints go to
    `errors`, or to the log too. `paces` are constants (`module.NAME`) that this process has another value of: what is done
    every half minute need not be waited for."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        errors: Path | None = None,
        directory: Path | None = None,
        paces: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        given = (list(arguments), dict(environment), log, errors or log, directory, dict(paces))
        with chdir(ROOT):  # the parent of all commands does not import what it cannot find from its directory
            forkserver.ensure_running()
        self._process = FORKING.Process(target=run, args=given, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def poll(self) -> int | None:
        """The exit code, negative after a signal; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        self._process.join(timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("memstream", timeout or 0.0)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def completed(
    arguments: Sequence[str], environment: Mapping[str, str], directory: Path, within_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs the command in a working directory and returns the result as `subprocess.run` does. Raises
    subprocess.TimeoutExpired after killing it."""
    with tempfile.TemporaryDirectory() as kept:
        out, err = Path(kept, "out"), Path(kept, "err")
        command = ForkedCommand(arguments, environment, out, errors=err, directory=directory)
        try:
            code = command.wait(within_s)
        except subprocess.TimeoutExpired:
            command.kill()
            raise
        return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())


def run(
    arguments: list[str],
    environment: dict[str, str],
    log: Path,
    errors: Path,
    directory: Path | None,
    paces: dict[str, float],
) -> None:
    """Runs the command in the forked process, as if Python had been started with it."""
    die_with_parent()
    for descriptor, path in ((1, log), (2, errors)):
        with path.open("ab") as kept:
            os.dup2(kept.fileno(), descriptor)
    if directory is not None:
        os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    for constant, seconds in paces.items():
        name_of_module, _, name = constant.rpartition(".")
        module = import_module(name_of_module)
        assert isinstance(getattr(module, name), float), constant
        setattr(module, name, seconds)
    # The console was made before the command's variables were set.
    terminal.console.width = int(environment.get("COLUMNS", terminal.LOG_WIDTH))
    sys.argv = ["memstream", *arguments]
    main()
