"""Erases users while workers are killed, and checks that nothing of them is left or restored."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from functools import partial

from agents.erasure.begin import ErasureService
from agents.retrieval.passage_search import PassageSearch
from deploy.settings import Settings
from deploy.wiring import connections, vector_index
from deploy.wiring.message_ends import message_ends
from sinks.erasure.erasures import Erasures
from sinks.passages.store import Passages
from sinks.postgres.connection import Connection, Pool
from tests.chaos.conversations import APP, marker
from tests.fakes.embedder import FakeEmbedder

UNFINISHED = (
    "SELECT (SELECT count(*) FROM erasures WHERE completed_at IS NULL) + (SELECT count(*) FROM passage_removals)"
)
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"


async def erase(settings: Settings, users: Iterable[str]) -> None:
    """Begins an erasure of each user; workers complete them."""
    async with connections.postgres(settings, max_size=1) as pool:
        erasures = ErasureService(Erasures(pool), partial(message_ends, settings), lambda: datetime.now(UTC))
        for user_id in users:
            await erasures.begin(f"erasure-of-{user_id}", "user", "kill loop", user_id=user_id)


async def left_of(users: Iterable[str], settings: Settings, pool: Pool | Connection) -> list[str]:
    """Describes remaining data of erased users: rows of any table, vectors, and search results."""
    users, left = tuple(users), []
    tables = [row["tablename"] for row in await pool.fetch(TABLES)]
    for user_id in users:
        for table in tables:
            statement = f"SELECT count(*) FROM {table} WHERE {table}::text LIKE $1"
            if rows := await pool.fetchval(statement, f"%{marker(user_id)}%"):
                left.append(f"{rows} rows of {table} tell of {user_id}, who was erased")
    return left + await vectors_of(users, settings) + await found_of(users, settings)


async def vectors_of(users: Collection[str], settings: Settings) -> list[str]:
    """Points of the users' namespaces in Qdrant, also those whose rows are deleted, which no search shows."""
    namespaces, left = {f"{APP}/{user}": user for user in users}, []
    embedder = FakeEmbedder()  # embeds nothing here
    for what, opened in (("memories", vector_index.qdrant), ("passages", vector_index.passage_index)):
        async with opened(settings, embedder) as vectors:
            owners = [
                namespaces[namespace]
                async for page in vectors.ids()
                for namespace, _ in page
                if namespace in namespaces
            ]
        left += [f"{points} vectors of {what} of {user}, who was erased" for user, points in Counter(owners).items()]
    return left


async def found_of(users: Collection[str], settings: Settings) -> list[str]:
    embedder = FakeEmbedder()
    async with (
        connections.postgres(settings, max_size=2) as pool,
        vector_index.passage_index(settings, embedder) as vectors,
    ):
        search = PassageSearch(embedder, vectors, Passages(pool), settings.policies())
        found = {user: (await search.search(f"I live in {marker(user)}", (f"{APP}/{user}",))).hits for user in users}
    return [f"{len(hits)} passages of {user}, who was erased, are found" for user, hits in found.items() if hits]
