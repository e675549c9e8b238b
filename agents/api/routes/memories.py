"""Reading memories: one by its id, or those of a namespace.

Namespaces hold slashes (`app/user`), which proxies and clients treat each in their own way within a path: they are told in the
query, as `namespace=app/user`.
"""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from agents.api.asked import ListQuery
from agents.api.auth import CallerOf
from agents.api.bodies import answer, described
from agents.api.callers import Caller
from agents.api.pages import cursor
from agents.api.ports import Ports, PortsOf
from agents.api.problems import not_found
from agents.api.views import Detail, MemoryPage, MemoryView, etag, names, view
from schemas.keys import Right
from schemas.memories import Memory

router = APIRouter(prefix="/v1/memories", tags=["memories"])

MemoryId = Annotated[str, Path(min_length=1, max_length=256, description="A memory's id.")]


@router.get("/{memory_id}", openapi_extra=described(MemoryView, also={304: "Not changed since `If-None-Match`."}))
async def get_memory(
    memory_id: MemoryId,
    caller: CallerOf,
    ports: PortsOf,
    detail: Annotated[Detail, Query(description="With the long parts, or without.")] = "full",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """One memory, superseded and expired ones too. Its `ETag` changes with its version."""
    memory = await found(ports, caller, "read", memory_id)
    ports.accesses.note([memory])
    tag = etag(memory, detail)
    if if_none_match is not None and names(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})
    access = (await ports.accesses.of([memory_id])).get(memory_id)
    return answer(view(memory, detail, access), headers={"ETag": tag})


@router.get("", openapi_extra=described(MemoryPage))
async def list_memories(asked: Annotated[ListQuery, Query()], caller: CallerOf, ports: PortsOf) -> Response:
    """Memories of a namespace, a page at a time: the most important first, or the newest."""
    caller.require("read", asked.namespace)
    listing = asked.listing()
    memories = await ports.memories.listed(listing)
    page = memories[: asked.limit]
    more = cursor(listing.place(page[-1])) if len(memories) > asked.limit else None
    read = await ports.accesses.of([memory.memory_id for memory in page])
    views = tuple(view(memory, asked.detail, read.get(memory.memory_id)) for memory in page)
    return answer(MemoryPage(memories=views, next=more))


async def found(ports: Ports, caller: Caller, right: Right, memory_id: str) -> Memory:
    """The memory of any status but deleted. One in a namespace of others is no different from none. Raises Problem 404."""
    memory = await ports.memories.get(memory_id)
    if memory is None or memory.status == "deleted" or not caller.may("read", memory.namespace):
        raise not_found(f"there is no memory {memory_id!r}")
    caller.require(right, memory.namespace)
    return memory
