"""Stored data of users, set by the test."""

from collections import Counter
from collections.abc import Collection

from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.errors import Retryable
from tests.fakes.memories import FakeMemories


class FakeOwners:
    """`known_scopes` are those of conversations. Namespaces are those of the fake memories; `feeds` are those fed by
    conversations."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self.known_scopes: list[Scope] = []
        self.feeds: dict[str, tuple[str, ...]] = {}

    async def conversations(self, user: User) -> tuple[str, ...]:
        if self._memories.down:
            raise Retryable("PostgreSQL failed while finding conversations of a user: it is down")
        return tuple(sorted({each.conversation_id for each in self.known_scopes if each.user_id == user.user_id}))

    async def scopes(self, conversation_ids: Collection[str]) -> tuple[Scope, ...]:
        return tuple(each for each in self.known_scopes if each.conversation_id in conversation_ids)

    async def namespaces_fed(self, conversation_ids: Collection[str]) -> tuple[str, ...]:
        return tuple(name for conversation_id in conversation_ids for name in self.feeds.get(conversation_id, ()))

    async def namespaces_naming(self, part: str, after: str, limit: int) -> tuple[str, ...]:
        found = {each.namespace for each in self._memories.rows.values() if part in each.namespace > after}
        return tuple(sorted(found)[:limit])

    async def stored_counts(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]:
        held = Counter(each.namespace for each in self._memories.rows.values())
        return {namespace: {"memories": held[namespace]} for namespace in namespaces}

    async def archived_counts(self, user: User) -> dict[str, int]:
        return {"messages": len(await self.conversations(user))}

    async def count_memories(self, namespace: str, conversation_ids: Collection[str]) -> int:
        own = [each for each in self._memories.rows.values() if each.namespace == namespace]
        return sum(any(source.conversation_id in conversation_ids for source in each.sources) for each in own)
