"""The fences of erasures: which older input they refuse."""

from collections.abc import Collection
from typing import Any

import asyncpg

from schemas.conversations.messages import Scope
from schemas.erasure.erasures import ConversationFence, Fence, Fences, UserFence
from schemas.policies.shadows import live_namespace_of
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query


async def fences_for(connection: Connection, scope: Scope, namespaces: Collection[str]) -> tuple[Fence, ...]:
    """The fences for messages of a scope that feed these namespaces: those of the conversation and the user, and the
    earliest of the namespaces if each of them was erased. Raises Retryable."""
    users = () if scope.user_id is None else (scope.user_id,)
    known = await fences(connection, namespaces, (scope.conversation_id,), users)
    whole = len(known.namespaces) == len(set(namespaces)) > 0
    earliest = (min(known.namespaces.values(), key=lambda fence: fence.at),) if whole else ()
    return (*earliest, *known.of_person(scope))


async def fences(
    connection: Connection, namespaces: Collection[str], conversations: Collection[str], users: Collection[str]
) -> Fences:
    """The fences of those of these namespaces, conversations and users that were erased. A shadow has the fence of its live
    namespace. Raises Retryable."""
    stored = {name: storable(live_namespace_of(name)) for name in namespaces}
    keys = [list({*stored.values()}), list(map(storable, conversations)), list(map(storable, users))]
    rows = await connection.fetch(query("erasures", "fences"), *keys)
    by_conversation: dict[str, tuple[ConversationFence, ...]] = {}
    for row in rows:
        if row["kind"] == "conversation":
            user = None if row["user_id"] is None else user_fence(row)
            by_conversation[row["name"]] = (*by_conversation.get(row["name"], ()), ConversationFence(fence(row), user))
    by_namespace = {row["name"]: fence(row) for row in rows if row["kind"] == "namespace"}
    return Fences(
        namespaces={name: by_namespace[kept] for name, kept in stored.items() if kept in by_namespace},
        conversations={
            name: by_conversation[storable(name)] for name in conversations if storable(name) in by_conversation
        },
        users=tuple(user_fence(row) for row in rows if row["kind"] == "user"),
    )


def user_fence(row: asyncpg.Record) -> UserFence:
    return UserFence(row["user_id"], row["tenant_id"], row["app_id"], fence(row))


def fence(row: asyncpg.Record) -> Fence:
    return Fence(row["at"], positions(row))


def positions(row: Any) -> dict[int, int]:
    """Converts the keys, which are text in JSON, to numbers."""
    return {int(partition): end for partition, end in row["positions"].items()}
