"""Both tiers of bench-recall together: curation stores the memories that the `offline` rules extract, and questions are
searched as by `/v1/search` with its defaults."""

from collections.abc import Sequence
from datetime import datetime

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.extraction.records import candidate_batches
from agents.extraction.related import RelatedMemories
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Context
from agents.retrieval.passage_ranking import SCALES
from agents.retrieval.passage_search import PassageSearch
from agents.retrieval.tiers import Tiers, sources_of
from schemas.conversations.messages import Message
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.searches import Hit, Query
from sinks.memories.reader import Memories
from sinks.outbox.projector import Projector
from tests.benchmarks.curate_steps import Discarding
from tests.benchmarks.recall_passage_hits import messages_of
from tests.benchmarks.recall_stack import Store
from tests.benchmarks.understanding.play import requests


class Clock:
    """A clock that is set."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


async def remember_by_rules(store: Store, policy: Policy, messages: Sequence[Message]) -> None:
    """Returns the memories that the rules keep of a conversation, at the times of its messages."""
    clock, provider = Clock(messages[0].timestamp), OfflineProvider()
    projector = Projector(store.pool, store.vectors, Discarding(), stale_s=0)
    curator = Curator(
        store.pool,
        store.vectors,
        store.embedder,
        projector,
        Policies((policy,)),
        clock.now,
        Compactor(provider, store.embedder),
        Editor(provider),
    )
    related = RelatedMemories(store.embedder, store.vectors, Memories(store.pool))
    for request in requests(messages, policy):
        clock.at = max(clock.at, request.messages[-1].timestamp)
        known = Context(policy=policy, related=await related.of(request, policy))
        for batch in candidate_batches(request, await provider.extract(request, known), clock.at):
            await curator.curate(batch)


async def in_both(
    store: Store, said: PassageSearch, namespaces: tuple[str, ...], text: str, asked_at: datetime, *, limit: int
) -> list[tuple[str, ...]]:
    """The messages of each hit; a memory stands for all of its sources."""
    clock = Clock(asked_at)
    tiers = Tiers(store.retrieval(), said, clock.now, SCALES[store.embedder.model])
    found = await tiers.search(Query(namespaces=namespaces, text=text, asked_at=asked_at, limit=limit))
    return [messages_of_memory(hit) if isinstance(hit, Hit) else messages_of(hit) for hit in found.mixed]


def messages_of_memory(hit: Hit) -> tuple[str, ...]:
    return tuple(message for _, message in sources_of(hit))
