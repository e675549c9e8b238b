"""The table of commands, and the modules that each command loads."""

import subprocess
import sys

import pytest

from deploy.cli.main import COMMANDS, load_command
from deploy.embedded.process import module_environment

# Each takes from a third of a second to two.
HEAVY = {"anthropic", "faust", "qdrant_client", "onnxruntime", "jgo", "fastapi"}
LIGHT = (
    *("--help", "settings", "migrate --help", "publish --help", "events --help", "usage --help"),
    *("topics list --help", "window show --help", "policies presets"),
)
# Each command in a process that is forked from one which has loaded the list of commands.
EACH = f"""
import os, sys
from deploy.cli.main import cli
loaded = []
for command in {LIGHT!r}:
    reading, writing = os.pipe()
    if os.fork() == 0:
        cli(command.split(), standalone_mode=False)
        os.write(writing, " ".join([command, "loaded", *sorted({HEAVY!r} & set(sys.modules))]).encode())
        os._exit(0)
    os.close(writing)
    os.wait()
    loaded.append(os.read(reading, 1000).decode())
print(*loaded, sep="\\n")
"""


@pytest.mark.parametrize(("name", "said"), COMMANDS.items())
def test_the_command_list_shows_the_first_help_line_of_each_command(name: str, said: str):
    assert load_command(name).help.splitlines()[0] == said


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_a_help_text(name: str):
    command = load_command(name)
    for each in (command, *getattr(command, "commands", {}).values()):
        assert each.help
        assert not [parameter.opts for parameter in each.params if not getattr(parameter, "help", None)]


def test_light_commands_do_not_import_heavy_modules():
    assert printed(EACH).splitlines()[-len(LIGHT) :] == [f"{command} loaded" for command in LIGHT]


def test_importing_mcp_serve_and_worker_commands_does_not_import_anthropic():
    assert (
        printed("import sys; from deploy.cli import mcp, serve, worker; print('anthropic' in sys.modules)") == "False\n"
    )


def printed(script: str) -> str:
    """Returns the output of a script in a new Python process."""
    return subprocess.run(
        [sys.executable, "-c", script], env=module_environment(), capture_output=True, text=True, timeout=60, check=True
    ).stdout
