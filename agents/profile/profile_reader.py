"""Reads the profiles of namespaces: computed again when a namespace changes, cached otherwise."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from agents.profile.classification import part_of
from agents.profile.profile_builder import ClassifiedMemory, build_profile
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from schemas.profile.profiles import Part, Profile
from sinks.memories.live import Head
from streams.windows.tokens.counting import TokenCount

MAX_CACHED: Final = 2_000  # namespaces; each with the memories of its profile, and the part of every other one
AT_ONCE: Final = 20  # memories that are classified before other requests have their turn: about 4 ms


class LiveMemoryReader(Protocol):
    """sinks.memories.live.LiveMemories. Every method raises Retryable."""

    async def heads(self, namespaces: Sequence[str]) -> dict[str, Head]: ...

    async def of(self, namespace: str) -> tuple[Memory, ...]: ...


class _CachedProfile(Struct, frozen=True):
    """The cached result for a namespace; `parts` are those of each version of a memory."""

    head: Head
    kept: tuple[ClassifiedMemory, ...]
    parts: dict[tuple[str, int], Part | None]


class Profiles:
    """Reads profiles. `count_tokens` is the counter that windows use."""

    def __init__(self, live: LiveMemoryReader, count_tokens: TokenCount, clock: Callable[[], datetime]) -> None:
        self._live = live
        self._count_tokens = count_tokens
        self._clock = clock
        self._known: OrderedDict[str, _CachedProfile] = OrderedDict()

    async def of(self, namespaces: Sequence[str], policy: Policy) -> Profile:
        """The joint profile of these namespaces. Raises Retryable."""
        kept: list[ClassifiedMemory] = []
        if policy.profile.max_tokens:
            heads = await self._live.heads(namespaces)
            for namespace in dict.fromkeys(namespaces):
                if (head := heads.get(namespace)) is not None:
                    kept += await self._of_namespace(namespace, head)
        return build_profile(kept, namespaces, policy, self._count_tokens, self._clock())

    async def _of_namespace(self, namespace: str, head: Head) -> tuple[ClassifiedMemory, ...]:
        known = self._known.get(namespace)
        if known is None or known.head != head:
            # Memories are read after the head: a change in between is included, and read again once the next head differs.
            known = await classified(head, await self._live.of(namespace), known)
            self._known[namespace] = known
        self._known.move_to_end(namespace)
        while len(self._known) > MAX_CACHED:
            self._known.popitem(last=False)
        return known.kept


async def classified(head: Head, memories: Sequence[Memory], before: _CachedProfile | None) -> _CachedProfile:
    """Classifies only memories that are new or changed."""
    earlier = before.parts if before is not None else {}
    parts: dict[tuple[str, int], Part | None] = {}
    kept = list[ClassifiedMemory]()
    for number, memory in enumerate(memories, 1):
        key = memory.memory_id, memory.version
        parts[key] = part = earlier[key] if key in earlier else part_of(memory)
        if part is not None:
            kept.append(ClassifiedMemory(part, memory))
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    return _CachedProfile(head, tuple(kept), parts)
