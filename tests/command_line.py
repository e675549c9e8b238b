"""The real command line, as a process of its own or in this one: what tests run, and how they read what it printed."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from deploy.cli import terminal
from deploy.cli.main import cli
from deploy.embedded.process import module_environment
from deploy.runtime.dev import environment
from deploy.settings import Settings
from deploy.settings.defaults import PREFIX
from tests.preparation import PASSWORD

WITHIN_S = 90  # where a command hangs; on two busy cores its imports alone take ten
API_KEY = "sk-ant-EXAMPLE-not-a-key-1111"

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def run(settings: Settings, directory: Path, *args: str, within_s: float = WITHIN_S, **changed: Any) -> Done:
    """Runs a command with the settings, and others by name, in the directory; nothing it prints may hold a secret."""
    own = {name: value for name, value in module_environment().items() if not name.startswith(PREFIX)}
    own |= chosen(settings, changed) | {"COLUMNS": "200"}
    command = [sys.executable, "-m", "deploy.cli.main", *args]
    return discreet(
        subprocess.run(command, env=own, cwd=directory, capture_output=True, text=True, timeout=within_s, check=False)
    )


def run_here(settings: Settings, directory: Path, *args: str, **changed: Any) -> Done:
    """The same in this process, which a loop must not be running in: what a command loads takes seconds, and here only once."""
    terminal.console.width = terminal.LOG_WIDTH  # as in a pipe, wherever the tests run
    with chdir(directory):
        ran = CliRunner().invoke(cli, list(args), env=chosen(settings, changed))
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return discreet(Done(args, ran.exit_code, ran.stdout, ran.stderr))


def chosen(settings: Settings, changed: dict[str, Any]) -> dict[str, str]:
    """The environment that says so, with a key that nothing may tell."""
    values = {"anthropic_api_key": API_KEY} | changed
    return environment(settings) | {f"{PREFIX}{name.upper()}": str(value) for name, value in values.items()}


def discreet(done: Done) -> Done:
    told = done.stdout + done.stderr
    assert PASSWORD not in told
    assert API_KEY not in told
    assert "Traceback" not in told
    return done


def lines(done: Done) -> list[dict[str, Any]]:
    """What --json printed."""
    return [json.loads(line) for line in done.stdout.splitlines()]
