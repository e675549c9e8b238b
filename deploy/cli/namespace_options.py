"""The namespace of a command: an argument, or an option as in commands that may have several."""

from typing import Annotated

import typer

from deploy.cli.command import WrongUsage

NamespaceArgument = Annotated[
    str | None, typer.Argument(help="The namespace, such as app/user; or give --namespace.", show_default=False)
]
NamespaceOption = Annotated[
    str | None, typer.Option("--namespace", "-n", help="The namespace, instead of the argument.")
]


def one_namespace(argument: str | None, option: str | None) -> str:
    """Returns the namespace. Raises WrongUsage unless it is given once."""
    if argument is None and option is not None:
        return option
    if argument is None or option is not None:
        raise WrongUsage("give one namespace, as the argument or with --namespace")
    return argument
