"""The passage index on a database and a collection of one test, with the fake embedder."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient

from agents.passages.indexer import PassageIndexer
from agents.passages.reindex import PassageReindexer, PassagesReindexed
from agents.policies.audience import Audience
from agents.retrieval.passage_ranking import CosineScale
from agents.retrieval.passage_search import PassageSearch
from deploy.embedded.stack import EmbeddedStack
from schemas.conversations.messages import Message
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy, Privacy
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.archive.participants import Participants
from sinks.passages.renewal import PassageRenewal
from sinks.passages.store import Passages
from sinks.passages.vectors import PassageVectors
from sinks.postgres.connection import Pool
from tests.fakes.embedder import FakeEmbedder

SHARES_WORDS = CosineScale(
    start=0.0, span=1.0, floor=0.2, least_range=0.5
)  # of the fake embedder: below the floor, no word is shared
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Said:
    """Archives, indexes and searches messages."""

    def __init__(self, pool: Pool, vectors: PassageVectors, policy: Policy) -> None:
        self.pool = pool
        self.policies = Policies((policy,))
        self.vectors = vectors
        self.archive = Archive(pool)
        self.passages = Passages(pool)
        embedder = FakeEmbedder()
        self.indexer = PassageIndexer(self.passages, vectors, embedder, self.policies)
        self.search = PassageSearch(embedder, vectors, self.passages, self.policies, scale=SHARES_WORDS)
        self._position = 0

    def message(
        self,
        content: str,
        *,
        conversation: str = "c1",
        user: str | None = "ada",
        at: datetime | None = None,
        **fields: object,
    ) -> ArchivedMessage:
        """The next message of a conversation in kitchen/USER, a minute after the previous one."""
        self._position += 1
        message = Message(
            **{"conversation_id": conversation, "message_id": f"{conversation}-{self._position}", "role": "user"}
            | {"timestamp": at or MONDAY + timedelta(minutes=self._position), "content": content}
            | {"app_id": "kitchen", "user_id": user}
            | fields  # type: ignore[arg-type]
        )
        return ArchivedMessage(message=message, partition=0, position=self._position)

    async def said(self, *messages: ArchivedMessage) -> int:
        """Archives and indexes messages; returns the number of new passages."""
        stored = await self.with_namespaces(messages)
        await self.archive.store(stored)
        return await self.indexer.index(stored)

    async def with_namespaces(self, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
        """The messages with their namespaces by the current policies."""
        return await Audience(Participants(self.pool), self.policies).with_namespaces(messages)

    async def found(self, text: str, namespace: str = "kitchen/ada", **options: object) -> list[str]:
        hits = (await self.search.search(text, (namespace,), **options)).hits  # type: ignore[arg-type]
        return [passage.text for hit in hits for passage in hit.exchange]

    async def reindexed(
        self, vectors: PassageVectors | None = None, embedder: FakeEmbedder | None = None
    ) -> PassagesReindexed:
        index, audience = vectors or self.vectors, Audience(Participants(self.pool), self.policies)
        renewal = PassageRenewal(self.pool, index)
        return await PassageReindexer(renewal, index, embedder or FakeEmbedder(), audience, self.policies).reindex(
            page=2
        )

    async def make_version_1(self) -> None:
        """Makes all passages those of version 1."""
        await self.pool.execute("UPDATE passages SET version = 1, source_digest = NULL")

    def restrict(self) -> None:
        """From now on, only the kitchen's policy redacts addresses."""
        self.follow(Policy(name="kitchen", match=Match(app_id="kitchen"), privacy=Privacy(scrub=("email",))))

    def allow(self) -> None:
        """From now on, no policy redacts addresses."""
        self.follow(Policy(name="kitchen"))

    def follow(self, policy: Policy) -> None:
        self.search._policies = self.indexer._policies = self.policies = Policies((policy,))

    async def rows(self) -> set[str]:
        return {row["passage_id"] for row in await self.pool.fetch("SELECT passage_id::text FROM passages")}

    async def points(self) -> set[str]:
        return {point_id async for page in self.vectors.ids() for _, point_id in page}


@pytest.fixture
async def passage_vectors(embedded_stack: EmbeddedStack) -> AsyncIterator[PassageVectors]:
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    embedder = FakeEmbedder()
    made = PassageVectors(
        client, dimension=embedder.dimension, embedding_model=embedder.model, collection=f"said-{uuid4().hex[:8]}"
    )
    async with aclosing(made) as vectors:
        await vectors.ensure_collection()
        yield vectors
        await vectors.drop_collection()
    await client.close()


@pytest.fixture
def said(pool: Pool, passage_vectors: PassageVectors) -> Said:
    return Said(pool, passage_vectors, Policy(name="kitchen"))
