"""What routes reach for: everything that lies outside HTTP, picked by the composition root, or by a test."""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Annotated, Protocol

from fastapi import Depends, Request
from msgspec import Struct

from agents.api.accesses import AccessCounter
from agents.api.bell import Bell
from agents.api.callers import Caller
from agents.api.limits import Rates
from agents.api.live import Told
from schemas.memories import Memory
from sinks.listing import Listing
from sinks.memories import MemoryVersion


class Door(Protocol):
    """Decides who comes in."""

    async def admit(self, token: str | None) -> Caller | None:
        """Who bears the token; None for one that is not valid. Raises Retryable."""


class Reading(Protocol):
    """Reading memories (sinks.memories.Memories, or a fake). Every method raises Retryable."""

    async def get(self, memory_id: str) -> Memory | None:
        """The memory, of any status and namespace."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Those that exist, of any status and namespace."""

    async def listed(self, asked: Listing) -> tuple[Memory, ...]:
        """A page of a namespace's memories."""

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        """Versions above one, oldest first."""


class Ports(Struct, frozen=True, kw_only=True):
    """One value a process. A new port is a new field here, in `deploy/serve.py` and in `tests/api.py`."""

    door: Door
    rates: Rates
    memories: Reading
    accesses: AccessCounter
    chronicle: Told
    bell: Bell
    clock: Callable[[], datetime]
    ready: Callable[[], Awaitable[None]]  # raises Retryable while requests cannot be answered


def ports_of(request: Request) -> Ports:
    ports: Ports = request.app.state.ports
    return ports


PortsOf = Annotated[Ports, Depends(ports_of)]
