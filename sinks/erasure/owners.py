"""What is kept of a user: which conversations, which namespaces bear the name, and how much is in them."""

from collections.abc import Collection
from typing import Final

import msgspec
from msgspec import Struct

from schemas.conversations.messages import Identifier, Scope
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

MOST: Final = 10_000  # conversations, and namespaces, that are looked at; one more says that there are more


class User(Struct, frozen=True, kw_only=True):
    """Somebody by their id, where one means different people elsewhere: of a tenant, of an app."""

    user_id: Identifier
    tenant_id: Identifier | None = None
    app_id: Identifier | None = None


class Owners:
    """Reads. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def scopes(self, user: User) -> tuple[Scope, ...]:
        """Of the conversations that the user said something in, others' in them too, as the archive and the windows know them: at
        most MOST + 1."""
        with translated("looking for a user's conversations"):
            rows = await self._pool.fetch(query("owners", "scopes"), *fields(user), MOST + 1)
        return tuple(msgspec.convert(dict(row), Scope) for row in rows)

    async def namespaces_fed(self, conversation_ids: Collection[str]) -> tuple[str, ...]:
        """The namespaces that these brought something to."""
        with translated("looking for what conversations fed"):
            rows = await self._pool.fetch(query("owners", "fed"), list(map(storable, conversation_ids)))
        return tuple(row["namespace"] for row in rows)

    async def namespaces_naming(self, part: str) -> tuple[str, ...]:
        """Namespaces whose names have this part: at most MOST + 1."""
        with translated("looking for namespaces"):
            rows = await self._pool.fetch(query("owners", "named"), storable(part), MOST + 1)
        return tuple(row["namespace"] for row in rows)

    async def all_namespaces_naming(self, part: str) -> tuple[str, ...]:
        """Namespaces whose names have this part and that hold something, however many."""
        with translated("looking for namespaces"):
            rows = await self._pool.fetch(query("owners", "all_named"), storable(part))
        return tuple(row["namespace"] for row in rows)

    async def stored_counts(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]:
        """How many of what each of the namespaces holds, by what they are."""
        with translated("counting what namespaces hold"):
            rows = await self._pool.fetch(query("owners", "held_in"), list(namespaces))
        counted = [dict(row) for row in rows]
        return {counts.pop("namespace"): counts for counts in counted}

    async def archived_counts(self, user: User) -> dict[str, int]:
        """How many archived messages of the user, and windows that are not forgotten."""
        with translated("counting what a user said"):
            row = await self._pool.fetchrow(query("owners", "said"), *fields(user))
        return dict(row or {})

    async def count_memories(self, namespace: str, conversation_ids: Collection[str]) -> int:
        """How many memories of a namespace have a source in one of these."""
        with translated("counting memories of a user's conversations"):
            statement = query("owners", "from_conversations")
            return int(await self._pool.fetchval(statement, namespace, list(map(storable, conversation_ids))))


def fields(user: User) -> tuple[str | None, ...]:
    return (user.user_id, user.tenant_id, user.app_id)
