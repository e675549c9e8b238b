"""Finds the stored data of a user: conversations, namespaces with the user's name, and counts."""

from collections.abc import Collection

import msgspec

from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class Owners:
    """Reads. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def conversations(self, user: User) -> tuple[str, ...]:
        """The ids of all conversations in which the user spoke, from the archive and the windows, in order."""
        with translated("finding conversations of a user"):
            rows = await self._pool.fetch(query("owners", "conversations"), *fields(user))
        return tuple(row["conversation_id"] for row in rows)

    async def scopes(self, conversation_ids: Collection[str]) -> tuple[Scope, ...]:
        """The scopes of these conversations, one for each speaker, from the archive and the windows."""
        with translated("finding speakers of conversations"):
            rows = await self._pool.fetch(query("owners", "scopes"), list(map(storable, conversation_ids)))
        return tuple(msgspec.convert(dict(row), Scope) for row in rows)

    async def namespaces_fed(self, conversation_ids: Collection[str]) -> tuple[str, ...]:
        """The namespaces with memories of these conversations."""
        with translated("finding the namespaces of conversations"):
            rows = await self._pool.fetch(query("owners", "fed"), list(map(storable, conversation_ids)))
        return tuple(row["namespace"] for row in rows)

    async def namespaces_naming(self, part: str, after: str, limit: int) -> tuple[str, ...]:
        """Up to `limit` namespaces behind `after` with this part in their names, shadows included, in order."""
        with translated("searching for namespaces"):
            rows = await self._pool.fetch(query("owners", "named"), storable(part), storable(after), limit)
        return tuple(row["namespace"] for row in rows)

    async def all_namespaces_naming(self, part: str) -> tuple[str, ...]:
        """All namespaces with this part in their names that hold data."""
        with translated("searching for namespaces"):
            rows = await self._pool.fetch(query("owners", "all_named"), storable(part))
        return tuple(row["namespace"] for row in rows)

    async def stored_counts(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]:
        """The counts of each namespace's data, by what it is."""
        with translated("counting stored data of namespaces"):
            rows = await self._pool.fetch(query("owners", "held_in"), list(namespaces))
        counted = [dict(row) for row in rows]
        return {counts.pop("namespace"): counts for counts in counted}

    async def archived_counts(self, user: User) -> dict[str, int]:
        """The counts of the user's archived messages, active windows and settings."""
        with translated("counting data of a user"):
            row = await self._pool.fetchrow(query("owners", "said"), *fields(user))
        return dict(row or {})

    async def count_memories(self, namespace: str, conversation_ids: Collection[str]) -> int:
        """The number of a namespace's memories with a source in one of these conversations."""
        with translated("counting memories of a user's conversations"):
            statement = query("owners", "from_conversations")
            return int(await self._pool.fetchval(statement, namespace, list(map(storable, conversation_ids))))


def fields(user: User) -> tuple[str | None, ...]:
    return (user.user_id, user.tenant_id, user.app_id)
