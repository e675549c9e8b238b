"""Reads the profiles of namespaces: made anew where a namespace changed, else of what is kept in the process."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from agents.profile.classification import part_of
from agents.profile.profile import Kept, TokenCount, profile
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from schemas.profile.profiles import Part, Profile
from sinks.memories.live import Head

MOST_KEPT: Final = 2_000  # namespaces; of each the few memories of its profile, and a word for each other one


class Live(Protocol):
    """sinks.memories.live.LiveMemories. Every method raises Retryable."""

    async def heads(self, namespaces: Sequence[str]) -> dict[str, Head]: ...

    async def of(self, namespace: str) -> tuple[Memory, ...]: ...


class _Known(Struct, frozen=True):
    """What was found in a namespace at its latest change; `parts` are those of each version of a memory."""

    head: Head
    kept: tuple[Kept, ...]
    parts: dict[tuple[str, int], Part | None]


class Profiles:
    """`count_tokens` counts as windows count."""

    def __init__(self, live: Live, count_tokens: TokenCount, clock: Callable[[], datetime]) -> None:
        self._live = live
        self._count_tokens = count_tokens
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def of(self, namespaces: Sequence[str], policy: Policy) -> Profile:
        """The profile of these namespaces together. Raises Retryable."""
        kept: list[Kept] = []
        if policy.profile.max_tokens:
            heads = await self._live.heads(namespaces)
            for namespace in dict.fromkeys(namespaces):
                if (head := heads.get(namespace)) is not None:
                    kept += await self._of_namespace(namespace, head)
        return profile(kept, namespaces, policy, self._count_tokens, self._clock())

    async def _of_namespace(self, namespace: str, head: Head) -> tuple[Kept, ...]:
        known = self._known.get(namespace)
        if known is None or known.head != head:
            # Read behind the head: a change in between is read along, and read once more after the next look at the head.
            known = sorted_out(head, await self._live.of(namespace), known)
            self._known[namespace] = known
        self._known.move_to_end(namespace)
        while len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return known.kept


def sorted_out(head: Head, memories: Sequence[Memory], before: _Known | None) -> _Known:
    """Looks at the words of those memories alone that are new or changed."""
    earlier = before.parts if before is not None else {}
    parts = {
        key: earlier[key] if key in earlier else part_of(memory)
        for memory in memories
        for key in ((memory.memory_id, memory.version),)
    }
    kept = ((parts[memory.memory_id, memory.version], memory) for memory in memories)
    return _Known(head, tuple(Kept(part, memory) for part, memory in kept if part is not None), parts)
