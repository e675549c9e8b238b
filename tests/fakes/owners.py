"""Stored data of users, set by the test."""

from collections import Counter
from collections.abc import Collection

from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.errors import Retryable
from sinks.erasure.owners import MAX_FOUND
from tests.fakes.memories import FakeMemories


class FakeOwners:
    """`conversations` are scopes; namespaces are those of the fake memories, and `feeds` those fed by conversations."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self.conversations: list[Scope] = []
        self.feeds: dict[str, tuple[str, ...]] = {}

    async def scopes(self, user: User) -> tuple[Scope, ...]:
        if self._memories.down:
            raise Retryable("PostgreSQL failed while finding conversations of a user: it is down")
        theirs = {scope.conversation_id for scope in self.conversations if scope.user_id == user.user_id}
        return tuple(scope for scope in self.conversations if scope.conversation_id in theirs)[: MAX_FOUND + 1]

    async def namespaces_fed(self, conversation_ids: Collection[str]) -> tuple[str, ...]:
        return tuple(name for conversation_id in conversation_ids for name in self.feeds.get(conversation_id, ()))

    async def namespaces_naming(self, part: str) -> tuple[str, ...]:
        return tuple({each.namespace for each in self._memories.rows.values() if part in each.namespace})

    async def stored_counts(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]:
        held = Counter(each.namespace for each in self._memories.rows.values())
        return {namespace: {"memories": held[namespace]} for namespace in namespaces}

    async def archived_counts(self, user: User) -> dict[str, int]:
        return {"messages": len(await self.scopes(user))}

    async def count_memories(self, namespace: str, conversation_ids: Collection[str]) -> int:
        own = [each for each in self._memories.rows.values() if each.namespace == namespace]
        return sum(any(source.conversation_id in conversation_ids for source in each.sources) for each in own)
