"""Which tools a request wires: the namespaces that it names, with what its key may do there."""

from typing import Annotated, Final

from fastapi import Query

from agents.api.access.callers import Caller
from agents.api.http.problems import invalid
from agents.api.memories.list_parameters import Label
from agents.api.ports import Ports
from agents.api.tools.ports import Blocks, ToolPorts
from agents.api.tools.tools import Tools, access
from schemas.access.keys import EVERYWHERE

MOST_NAMESPACES: Final = 20

NamespacesOf = Annotated[
    list[Label] | None,
    Query(
        max_length=MOST_NAMESPACES,
        description="What the tools reach; by default the namespaces that the key names in full. A model cannot choose others.",
    ),
]


def tools(ports: Ports, caller: Caller, namespaces: list[str] | None) -> Tools:
    """For these namespaces, with what the caller may do there. Raises Problem 403; 422 where neither the request nor the key says
    which."""
    reached = tuple(dict.fromkeys(namespaces or named_in_full(caller)))
    if not 0 < len(reached) <= MOST_NAMESPACES:
        raise invalid(f"say which namespaces the tools reach, {MOST_NAMESPACES} at most: `?namespace=app/user`")
    for each in reached:
        caller.require("read", each)
    writable = tuple(each for each in reached if caller.may("write", each))
    reach = access(ports.policies, reached, writable, caller.actor)
    wired = ToolPorts(
        retrieval=ports.retrieval,
        memories=ports.memories,
        passages=ports.passages,
        commands=ports.commands,
        clock=ports.clock,
        blocks=Blocks(ports.conversations, ports.recall),
        note=ports.accesses.note,
    )
    return Tools(reach, wired)


def named_in_full(caller: Caller) -> list[str]:
    return [grant.namespaces for grant in caller.grants if EVERYWHERE not in grant.namespaces]
