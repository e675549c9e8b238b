"""Data for charts: daily activity of a namespace, its most expensive memories, and a map of its memories."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.memories.memory_map import MemoryMap, memory_map
from agents.api.memories.views import MemoryView, memory_view
from agents.api.ports import PortsOf
from agents.api.routes.statistics import NamespaceOf
from schemas.conversations.messages import Moment
from sinks.memories.insights import NamespaceDay
from sinks.memories.listing import Listing
from sinks.memories.statistics import MemoryCost

router = APIRouter(prefix="/v1", tags=["statistics"])

MAX_DAYS: Final = 366
MAX_MAP_MEMORIES: Final = 1_000


class NamespaceHistory(Struct, frozen=True, kw_only=True):
    """Activity by UTC day from `since` on, earliest first. Days without activity are absent."""

    namespace: str
    since: Moment
    until: Moment
    days: tuple[NamespaceDay, ...]


class CostlyMemory(Struct, frozen=True, kw_only=True):
    """A memory with its share of the cost of the extractions that it comes from."""

    memory: MemoryView
    cost: MemoryCost


class CostlyMemories(Struct, frozen=True, kw_only=True):
    """The most expensive memories first. Memories without recorded model calls are absent."""

    namespace: str
    memories: tuple[CostlyMemory, ...]


@router.get("/statistics/history", openapi_extra=documented(NamespaceHistory))
async def get_history(
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS, description="Number of days, including today.")] = 30,
) -> Response:
    """Per day: memories created, reinforced, superseded and so on, and the consumption of model calls for the namespace."""
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
    limit: Annotated[int, Query(ge=1, le=100, description="Maximum number of entries in the response.")] = 20,
) -> Response:
    """The most expensive memories. Each has its share of the extractions that it comes from."""
    caller.require("read", namespace)
    costs = await ports.insights.costliest(namespace, limit)
    memories = await ports.stored.by_ids([cost.memory_id for cost in costs])
    costly = tuple(
        CostlyMemory(memory=memory_view(memories[cost.memory_id], "short"), cost=cost)
        for cost in costs
        if cost.memory_id in memories
    )
    return json_response(CostlyMemories(namespace=namespace, memories=costly))


@router.get("/map", openapi_extra=documented(MemoryMap))
async def get_map(
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    limit: Annotated[
        int,
        Query(
            ge=1,
            le=MAX_MAP_MEMORIES,
            description="Maximum number of memories in the response; the most important ones.",
        ),
    ] = 500,
) -> Response:
    """A namespace's memories in two dimensions, with similar memories close to each other: the first two principal components
    of their vectors.

    Deterministic: the same memories have the same places.
    """
    caller.require("read", namespace)
    memories = await ports.memories.list_page(Listing(namespace=namespace, limit=limit))
    points = await ports.stored.points([memory.memory_id for memory in memories], ports.vectors.embedding_model)
    ordered = sorted(points, key=lambda point: point.memory_id)
    # On a thread: a thousand vectors take 0.1 s, which would block the event loop.
    return json_response(await asyncio.to_thread(memory_map, namespace, len(memories), ordered))
