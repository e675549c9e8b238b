"""Builds the tools of a request, limited to its namespaces and to the rights of its key."""

from typing import Annotated, Final

from fastapi import Query

from agents.api.access.callers import Caller
from agents.api.http.problems import invalid
from agents.api.memories.list_parameters import Label
from agents.api.ports import Ports
from agents.api.tools.access import tool_access
from agents.api.tools.ports import Blocks, ToolPorts
from agents.api.tools.tools import Tools
from schemas.access.keys import EVERYWHERE

MAX_NAMESPACES: Final = 20

NamespacesOf = Annotated[
    list[Label] | None,
    Query(
        max_length=MAX_NAMESPACES,
        description="Namespaces of the tools; default: those that the key names in full. A model cannot choose others.",
    ),
]


def authorised_tools(ports: Ports, caller: Caller, namespaces: list[str] | None) -> Tools:
    """Returns the tools for these namespaces, or for those that the key names in full. Raises Problem 403, and 422 if
    neither names any or there are too many."""
    requested = tuple(dict.fromkeys(namespaces or named_in_full(caller)))
    if not 0 < len(requested) <= MAX_NAMESPACES:
        raise invalid(f"name 1 to {MAX_NAMESPACES} namespaces for the tools: `?namespace=app/user`")
    for each in requested:
        caller.require("read", each)
    writable = tuple(each for each in requested if caller.may("write", each))
    permissions = tool_access(ports.policies, requested, writable, caller.actor)
    tool_ports = ToolPorts(
        retrieval=ports.retrieval,
        memories=ports.memories,
        passages=ports.passages,
        commands=ports.commands,
        clock=ports.clock,
        blocks=Blocks(ports.conversations, ports.recall),
        note=ports.accesses.note,
        count=ports.retrieval_counts.note,
    )
    return Tools(permissions, tool_ports)


def named_in_full(caller: Caller) -> list[str]:
    return [grant.namespaces for grant in caller.grants if EVERYWHERE not in grant.namespaces]
