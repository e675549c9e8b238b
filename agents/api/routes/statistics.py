"""Statistics of a namespace: its memories and its usage of model calls."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import AwareDatetime

from agents.api.access.authentication import CallerOf
from agents.api.access.memories import MemoryId, load_memory, refuse_escaped_slash
from agents.api.budgets.usage_report import Usage
from agents.api.http.json_bodies import documented, json_response
from agents.api.http.problems import invalid
from agents.api.ports import PortsOf
from sinks.memories.statistics import MemoryCost, Statistics

router = APIRouter(prefix="/v1", tags=["statistics"])

NamespaceOf = Annotated[str, Query(min_length=1, max_length=256, description="The namespace, such as `app/user`.")]


@router.get("/statistics", openapi_extra=documented(Statistics))
async def get_statistics(namespace: NamespaceOf, caller: CallerOf, ports: PortsOf) -> Response:
    """Numbers of memories by status, kind and tag; reads, reinforcements and cost."""
    caller.require("read", namespace)
    return json_response(await ports.statistics.of(namespace))


@router.get(
    "/memories/{memory_id}/cost", openapi_extra=documented(MemoryCost), dependencies=[Depends(refuse_escaped_slash)]
)
async def get_memory_cost(memory_id: MemoryId, caller: CallerOf, ports: PortsOf) -> Response:
    """The cost of a memory: its share of the extractions that it comes from."""
    memory = await load_memory(ports, caller, "read", memory_id)
    return json_response(await ports.statistics.cost_of(memory_id, memory.namespace))


@router.get("/usage", openapi_extra=documented(Usage))
async def get_usage(
    caller: CallerOf,
    ports: PortsOf,
    namespace: Annotated[
        str | None,
        Query(min_length=1, max_length=256, description="Consumption of this namespace; without it, of all."),
    ] = None,
    since: Annotated[AwareDatetime | None, Query(description="Start; default: a day ago.")] = None,
    until: Annotated[AwareDatetime | None, Query(description="End; default: now.")] = None,
) -> Response:
    """Tokens and cost of model calls by operation, lane and model, and the remaining budget.

    Without a namespace the key needs the right to read all.
    """
    if namespace is None:
        caller.require_everywhere("read")
    else:
        caller.require("read", namespace)
    end = until or ports.clock()
    begin = since or ports.clock() - timedelta(days=1)
    if begin > end:
        raise invalid("`since` is after `until`: swap them")
    return json_response(await ports.usage.of(namespace, begin, end))
