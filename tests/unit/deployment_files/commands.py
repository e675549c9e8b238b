"""What containers run, held to the command line and to the settings as they are."""

from typer.testing import CliRunner

from deploy.cli.main import cli
from deploy.settings import PREFIX, table

VARIABLES = {name for name, _, _ in table()}


def assert_runs(args: list[str]) -> None:
    """The command exists and takes these options."""
    answered = CliRunner().invoke(cli, [*args, "--help"])
    assert answered.exit_code == 0, f"memstream {' '.join(args)}: {answered.output}"


def assert_known(variables: set[str]) -> None:
    """Those with memstream's prefix are settings."""
    assert {name for name in variables if name.startswith(PREFIX)} <= VARIABLES
