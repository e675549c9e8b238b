"""Reading memories: one by id with its versions and relations, or the list of a namespace."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Response
from msgspec import Meta, Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.memories import MemoryId, load_existing_memory, load_memory, refuse_escaped_slash
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor, encode_cursor
from agents.api.http.json_bodies import documented, json_response
from agents.api.memories.list_parameters import ListQuery
from agents.api.memories.related import Related, find_related
from agents.api.memories.views import Detail, MemoryPage, MemoryView, etag, etag_matches, memory_view
from agents.api.ports import PortsOf
from sinks.memories.reader import MemoryVersion

router = APIRouter(prefix="/v1/memories", tags=["memories"], dependencies=[Depends(refuse_escaped_slash)])


class VersionPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Versions of a memory, oldest first. `next` is the cursor of the following page, absent on the last page."""

    versions: tuple[MemoryVersion, ...]
    next: str | None = None


class Version(Struct, frozen=True):
    """The place that a cursor of versions encodes."""

    version: Annotated[int, Meta(ge=0, le=2**31 - 1)]


@router.get("", openapi_extra=documented(MemoryPage))
async def list_memories(query: Annotated[ListQuery, Query()], caller: CallerOf, ports: PortsOf) -> Response:
    """List the memories of a namespace, in pages, by importance or newest first."""
    caller.require("read", query.namespace)
    listing = query.listing()
    memories = await ports.memories.list_page(listing)
    page = memories[: query.limit]
    next_cursor = encode_cursor(listing.place(page[-1]), query.filters()) if len(memories) > query.limit else None
    read = await ports.accesses.of([memory.memory_id for memory in page])
    views = tuple(memory_view(memory, query.detail, read.get(memory.memory_id)) for memory in page)
    return json_response(MemoryPage(memories=views, next=next_cursor))


@router.get(
    "/{memory_id}", openapi_extra=documented(MemoryView, without_body={304: "Not changed since `If-None-Match`."})
)
async def get_memory(
    memory_id: MemoryId,
    caller: CallerOf,
    ports: PortsOf,
    detail: Annotated[Detail, Query(description="`full` includes the long fields, `short` does not.")] = "full",
    if_none_match: Annotated[str | None, Header(description="`ETag`s that the caller has.")] = None,
) -> Response:
    """One memory, also superseded and expired ones. Its `ETag` changes with its version."""
    memory = await load_existing_memory(ports, caller, "read", memory_id)
    ports.accesses.note([memory])
    tag = etag(memory, detail)
    if if_none_match is not None and etag_matches(if_none_match, tag, weakly=True):
        return Response(status_code=304, headers={"ETag": tag})
    access = (await ports.accesses.of([memory_id])).get(memory_id)
    return json_response(memory_view(memory, detail, access), headers={"ETag": tag})


@router.get("/{memory_id}/versions", openapi_extra=documented(VersionPage))
async def list_versions(
    memory_id: MemoryId, caller: CallerOf, ports: PortsOf, limit: LimitOf = 50, cursor_: CursorOf = None
) -> Response:
    """The versions of a memory: contents, who changed it, and the cause. For a deleted memory, the only place that has its
    text."""
    await load_memory(ports, caller, "read", memory_id)
    after = decode_cursor(cursor_, Version, memory_id).version if cursor_ else 0
    versions = await ports.memories.versions_after(memory_id, after, limit + 1)
    page = versions[:limit]
    next_cursor = encode_cursor(Version(page[-1].version), memory_id) if len(versions) > limit else None
    return json_response(VersionPage(versions=page, next=next_cursor))


@router.get("/{memory_id}/related", openapi_extra=documented(Related))
async def list_related(
    memory_id: MemoryId,
    caller: CallerOf,
    ports: PortsOf,
    limit: Annotated[int, Query(ge=1, le=50, description="Maximum number of similar memories in the response.")] = 10,
    min_score: Annotated[
        float | None,
        Query(ge=0, le=1, description="Minimum cosine similarity; default: the embedding model's threshold."),
    ] = None,
) -> Response:
    """Memories that are linked with a memory in either direction or similar to it, and the passages of its sources."""
    memory = await load_existing_memory(ports, caller, "read", memory_id)
    return json_response(await find_related(ports, memory, limit, min_score, partial(caller.may, "read")))
