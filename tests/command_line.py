"""The real command line, as a process of its own: what tests run, and how they read what it printed."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deploy.dev import environment
from deploy.embedded.process import module_environment
from deploy.settings import PREFIX, Settings
from tests.preparation import PASSWORD

WITHIN_S = 90  # where a command hangs; on two busy cores its imports alone take ten
API_KEY = "sk-ant-EXAMPLE-not-a-key-1111"

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def run(settings: Settings, directory: Path, *args: str, within_s: float = WITHIN_S, **changed: Any) -> Done:
    """Runs a command with the settings, and others by name, in the directory; nothing it prints may hold a secret."""
    secret = {"anthropic_api_key": API_KEY}
    values = {f"{PREFIX}{name.upper()}": str(value) for name, value in (secret | changed).items()}
    own = {name: value for name, value in module_environment().items() if not name.startswith(PREFIX)}
    own |= environment(settings) | values | {"COLUMNS": "200"}
    command = [sys.executable, "-m", "deploy.cli", *args]
    done = subprocess.run(
        command, env=own, cwd=directory, capture_output=True, text=True, timeout=within_s, check=False
    )
    assert PASSWORD not in done.stdout + done.stderr
    assert API_KEY not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done


def lines(done: Done) -> list[dict[str, Any]]:
    """What --json printed."""
    return [json.loads(line) for line in done.stdout.splitlines()]
