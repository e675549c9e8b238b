"""Loads the memory of a request, checks the caller's rights and the expected version."""

from typing import Annotated

from fastapi import Header, Path, Request

from agents.api.access.callers import Caller
from agents.api.http.problems import not_found
from agents.api.memories.apply_change import version_outdated
from agents.api.memories.views import etag, names
from agents.api.ports import Ports
from schemas.access.keys import Right
from schemas.memories.memories import Memory

MemoryId = Annotated[str, Path(min_length=1, max_length=256, description="A memory's id.")]
IfMatch = Annotated[
    str | None, Header(description="The `ETag` of the memory as it was read; 412 when it is another by now.")
]


async def refuse_escaped_slash(request: Request) -> None:
    """Raises Problem 404 for an id with a slash: servers take the escaped one for a plain one, so that `m1%2Fpin` would be the
    pin of `m1`. No memory has such an id."""
    if b"%2f" in request.scope.get("raw_path", b"").lower():
        raise not_found("no memory has an id with a slash")


async def load_memory(ports: Ports, caller: Caller, right: Right, memory_id: str) -> Memory:
    """The memory, a deleted one too. One of a namespace that the caller may not read is no different from none.

    Raises Problem 404; 403 where the caller may read, and no more.
    """
    memory = await (ports.memories if right == "read" else ports.stored).get(memory_id)
    if memory is None or not caller.may("read", memory.namespace):
        raise memory_not_found(memory_id)
    caller.require(right, memory.namespace)
    return memory


async def load_existing_memory(ports: Ports, caller: Caller, right: Right, memory_id: str) -> Memory:
    """The memory unless it is deleted. Raises Problem 404, 403."""
    memory = await load_memory(ports, caller, right, memory_id)
    if memory.status == "deleted":
        raise memory_not_found(memory_id)
    return memory


def memory_not_found(memory_id: str) -> Exception:
    return not_found(f"there is no memory {memory_id!r}")


def expected_version(memory: Memory, if_match: str | None) -> int | None:
    """The version that the curator must find; None for any. Raises Problem 412 if the version has changed already."""
    if if_match is None or if_match.strip() == "*":
        return None
    if not any(names(if_match, etag(memory, detail)) for detail in ("short", "full")):
        raise version_outdated(memory)
    return memory.version
