"""Loads the memory that a request names, and checks the caller's rights and the expected version."""

from typing import Annotated

from fastapi import Header, Path, Request

from agents.api.access.callers import Caller
from agents.api.http.problems import not_found
from agents.api.memories.apply_change import version_outdated
from agents.api.memories.views import etag, etag_matches
from agents.api.ports import Ports
from schemas.access.keys import Right
from schemas.memories.memories import Memory

MemoryId = Annotated[str, Path(min_length=1, max_length=256, description="A memory's id.")]
IfMatch = Annotated[str | None, Header(description="The `ETag` of the memory; 412 if it has changed.")]


async def refuse_escaped_slash(request: Request) -> None:
    """Raises Problem 404 for a memory id with an escaped slash. Servers decode `%2F`, so `m1%2Fpin` would reach the route
    `/pin` of `m1`. No memory id contains a slash."""
    if b"%2f" in request.scope.get("raw_path", b"").lower():
        raise not_found("the id of a memory contains no slash")


async def load_memory(ports: Ports, caller: Caller, right: Right, memory_id: str) -> Memory:
    """Returns the memory, including deleted ones.

    Raises Problem 404 if it does not exist or the caller may not read its namespace, so that the two cases look the same.
    Raises Problem 403 if the caller may read but lacks `right`.
    """
    memory = await (ports.memories if right == "read" else ports.stored).get(memory_id)
    if memory is None or not caller.may("read", memory.namespace):
        raise memory_not_found(memory_id)
    caller.require(right, memory.namespace)
    return memory


async def load_existing_memory(ports: Ports, caller: Caller, right: Right, memory_id: str) -> Memory:
    """Returns the memory unless it is deleted. Raises Problem 404 and 403 as `load_memory`."""
    memory = await load_memory(ports, caller, right, memory_id)
    if memory.status == "deleted":
        raise memory_not_found(memory_id)
    return memory


def memory_not_found(memory_id: str) -> Exception:
    return not_found(f"there is no memory {memory_id!r}")


def expected_version(memory: Memory, if_match: str | None) -> int | None:
    """Returns the version that the curator must find, or None for any version. Raises Problem 412 if the memory already has
    another version."""
    if if_match is None or if_match.strip() == "*":
        return None
    if not any(etag_matches(if_match, etag(memory, detail)) for detail in ("short", "full")):
        raise version_outdated(memory)
    return memory.version
