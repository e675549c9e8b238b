"""The namespace of a command: an argument, or an option as in commands that may have several."""

from collections.abc import Sequence
from typing import Annotated

import typer

from deploy.cli.command import WrongUsage, require_length

NamespaceArgument = Annotated[
    str | None, typer.Argument(help="The namespace, such as app/user; or give --namespace.", show_default=False)
]
NamespaceOption = Annotated[
    str | None, typer.Option("--namespace", "-n", help="The namespace, instead of the argument.")
]


def one_namespace(argument: str | None, option: str | None) -> str:
    """Returns the namespace. Raises WrongUsage unless it is given once and may be a namespace."""
    given = [each for each in (argument, option) if each is not None]
    if len(given) != 1:
        raise WrongUsage("give one namespace, as the argument or with --namespace")
    return valid_namespaces(given)[0]


def valid_namespaces(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the names. Raises WrongUsage for one that no namespace can have."""
    for name in names:
        require_length(name, "a namespace")
    return tuple(names)
