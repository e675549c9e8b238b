"""Runs the command line, in its own process or in this one, and reads its output."""

import json
import logging
import subprocess
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from deploy.cli import terminal
from deploy.cli.main import cli
from deploy.embedded.process import module_environment
from deploy.runtime.dev import environment
from deploy.settings import Settings
from deploy.settings.defaults import PREFIX
from tests.chaos.preloaded import completed
from tests.preparation import PASSWORD

WITHIN_S = 90  # for a hanging command; on two busy cores the imports alone take ten seconds
API_KEY = "sk-ant-EXAMPLE-not-a-key-1111"

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def run(settings: Settings, directory: Path, *args: str, within_s: float = WITHIN_S, **changed: Any) -> Done:
    """Runs a command in a process forked from one with the imports done, in the directory, with the settings and further
    ones by name. Fails if the output contains a secret."""
    own = {name: value for name, value in module_environment().items() if not name.startswith(PREFIX)}
    own |= settings_environment(settings, changed) | {"COLUMNS": "200"}
    return discreet(completed(args, own, directory, within_s))


def run_here(settings: Settings, directory: Path, *args: str, **changed: Any) -> Done:
    """Runs a command in this process, where imports are loaded once. No event loop may be running."""
    terminal.console.width = terminal.LOG_WIDTH  # plain output, as in a pipe
    with chdir(directory), log_handlers_kept():
        ran = CliRunner().invoke(cli, list(args), env=settings_environment(settings, changed))
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return discreet(Done(args, ran.exit_code, ran.stdout, ran.stderr))


@contextmanager
def log_handlers_kept() -> Iterator[None]:
    """Restores the log handlers: a command that logs to standard error leaves a handler whose stream is closed."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def settings_environment(settings: Settings, changed: dict[str, Any]) -> dict[str, str]:
    """The environment variables of the settings, with a secret key."""
    values = {"anthropic_api_key": API_KEY} | changed
    return environment(settings) | {f"{PREFIX}{name.upper()}": str(value) for name, value in values.items()}


def discreet(done: Done) -> Done:
    output = done.stdout + done.stderr
    assert PASSWORD not in output
    assert API_KEY not in output
    assert "Traceback" not in output, output
    return done


def lines(done: Done) -> list[dict[str, Any]]:
    """The decoded lines of --json output."""
    return [json.loads(line) for line in done.stdout.splitlines()]
