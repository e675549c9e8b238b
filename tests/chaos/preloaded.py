"""memstream's commands in processes that are forked from one which has imported them: imports take two seconds of a core each.

What is started anew is a process like any other, with an environment, a log and a life of its own. That the command line works
when Python starts from nothing is what the tests of the command line, of `memstream dev` and of the demo say.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from deploy.cli.main import main
from deploy.embedded.postgres.unprivileged import die_with_parent

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload([__name__, "tests.chaos.warm"])


class ForkedCommand:
    """`memstream` with these arguments, started. To whoever holds it it is what a `subprocess.Popen` is."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._process = FORKING.Process(target=run, args=(list(arguments), dict(environment), log), daemon=True)
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


def run(arguments: list[str], environment: dict[str, str], log: Path) -> None:
    """What the forked process does: the command, as if Python had been started with it."""
    die_with_parent()
    with log.open("ab") as kept:
        for descriptor in (1, 2):
            os.dup2(kept.fileno(), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["memstream", *arguments]
    main()
