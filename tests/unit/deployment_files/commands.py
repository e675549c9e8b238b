"""Checks commands and variables of containers against the command line and the settings."""

from typer.testing import CliRunner

from deploy.cli.main import cli
from deploy.settings import tables
from deploy.settings.defaults import PREFIX

VARIABLES = {row.variable for rows in tables().values() for row in rows}


def assert_runs(args: list[str]) -> None:
    """The command exists and takes these options."""
    answered = CliRunner().invoke(cli, [*args, "--help"])
    assert answered.exit_code == 0, f"memstream {' '.join(args)}: {answered.output}"


def assert_known(variables: set[str]) -> None:
    """Checks that variables with memstream's prefix are settings."""
    assert {name for name in variables if name.startswith(PREFIX)} <= VARIABLES
