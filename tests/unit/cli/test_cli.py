"""The table of commands, and what is loaded to run one."""

import subprocess
import sys

import pytest

from deploy.cli.main import COMMANDS, loaded
from deploy.embedded.process import module_environment

# Each takes from a third of a second to two.
HEAVY = {"anthropic", "faust", "qdrant_client", "onnxruntime", "jgo", "fastapi"}


@pytest.mark.parametrize(("name", "said"), COMMANDS.items())
def test_the_list_says_of_a_command_what_the_command_says_of_itself(name: str, said: str):
    assert loaded(name).help.splitlines()[0] == said


@pytest.mark.parametrize(
    "command",
    [
        *("--help", "settings", "migrate --help", "publish --help", "events --help", "usage --help"),
        *("topics list --help", "window show --help", "policies presets"),
    ],
)
def test_a_command_loads_only_what_it_needs(command: str):
    script = f"import sys; from deploy.cli.main import cli; cli({command.split()!r}, standalone_mode=False)"
    report = f"{script}; print('loaded', *sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", report], env=module_environment(), capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded"


@pytest.mark.parametrize("name", ["worker", "serve", "mcp"])
def test_what_asks_nobody_outside_loads_no_client_of_theirs(name: str):
    script = f"import sys; from deploy.cli import {name}; print('anthropic' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], env=module_environment(), capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"
