"""What charts are drawn of: a namespace day by day, its costliest memories, and a map of what is remembered."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.memories.memory_map import MemoryMap, memory_map
from agents.api.memories.views import MemoryView, view
from agents.api.ports import PortsOf
from agents.api.routes.statistics import NamespaceOf
from schemas.conversations.messages import Moment
from sinks.memories.insights import NamespaceDay
from sinks.memories.listing import Listing
from sinks.memories.statistics import MemoryCost

router = APIRouter(prefix="/v1", tags=["statistics"])

MOST_DAYS: Final = 366
MOST_ON_A_MAP: Final = 1_000


class NamespaceHistory(Struct, frozen=True, kw_only=True):
    """Days in UTC from `since` on, the earliest first; those on which nothing happened are missing."""

    namespace: str
    since: Moment
    until: Moment
    days: tuple[NamespaceDay, ...]


class CostlyMemory(Struct, frozen=True, kw_only=True):
    """A memory, and what the extractions cost that it comes from."""

    memory: MemoryView
    cost: MemoryCost


class CostlyMemories(Struct, frozen=True, kw_only=True):
    """The costliest first; memories that no model call is on record for are not among them."""

    namespace: str
    memories: tuple[CostlyMemory, ...]


@router.get("/statistics/history", openapi_extra=documented(NamespaceHistory))
async def get_history(
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS, description="How many days, today's among them.")] = 30,
) -> Response:
    """Day by day how many memories were created, said again, replaced, ..., and what model calls for the namespace consumed."""
    caller.require("read", namespace)
    now = ports.clock().astimezone(UTC)
    since = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=days - 1)
    found = await ports.insights.days(namespace, since, now + timedelta(seconds=1))
    return json_response(NamespaceHistory(namespace=namespace, since=since, until=now, days=found))


@router.get("/statistics/costs", openapi_extra=documented(CostlyMemories))
async def get_costs(
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    limit: Annotated[int, Query(ge=1, le=100, description="How many at most.")] = 20,
) -> Response:
    """Which memories cost most: each its part of the extractions that it comes from."""
    caller.require("read", namespace)
    costs = await ports.insights.costliest(namespace, limit)
    known = await ports.stored.by_ids([cost.memory_id for cost in costs])
    shown = tuple(
        CostlyMemory(memory=view(known[cost.memory_id], "short"), cost=cost)
        for cost in costs
        if cost.memory_id in known
    )
    return json_response(CostlyMemories(namespace=namespace, memories=shown))


@router.get("/map", openapi_extra=documented(MemoryMap))
async def get_map(
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    limit: Annotated[int, Query(ge=1, le=MOST_ON_A_MAP, description="The most important ones, so many at most.")] = 500,
) -> Response:
    """A namespace's memories on a plane, similar ones near to each other: the first two principal components of their vectors.

    The same memories always lie in the same places.
    """
    caller.require("read", namespace)
    memories = await ports.memories.list_page(Listing(namespace=namespace, limit=limit))
    points = await ports.stored.points([memory.memory_id for memory in memories], ports.vectors.embedding_model)
    ordered = sorted(points, key=lambda point: point.memory_id)
    # Beside the event loop: a thousand vectors take a tenth of a second.
    return json_response(await asyncio.to_thread(memory_map, namespace, len(memories), ordered))
