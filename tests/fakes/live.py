"""Live memories in a dictionary, like sinks.memories.live."""

from collections.abc import Sequence

from schemas.memories.memories import Memory
from sinks.memories.live import Head
from tests.fakes.memories import FakeMemories


class FakeLive:
    """`reads` are the namespaces that were read, in order."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self.reads: list[str] = []

    async def heads(self, namespaces: Sequence[str]) -> dict[str, Head]:
        self._memories._check()
        return {name: self._head(name) for name in namespaces}

    async def of(self, namespace: str) -> tuple[Memory, ...]:
        self._memories._check()
        self.reads.append(namespace)
        live = [
            each for each in self._memories.rows.values() if each.namespace == namespace and each.status == "active"
        ]
        return tuple(sorted(live, key=lambda each: (each.created_at, each.memory_id)))

    def _head(self, namespace: str) -> Head:
        rows = [each for each in self._memories.rows.values() if each.namespace == namespace]
        return Head(sum(each.version for each in rows))
