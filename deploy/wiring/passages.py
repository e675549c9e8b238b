"""Wires the passages stage, and the cleanup that keeps Qdrant in step with its rows."""

import time
from collections.abc import Callable
from functools import partial

from agents.passages.agent import STAGE, PassageAgent, RefusedPassages
from agents.passages.backfill import Backfill, Backfilled, Progress, recall_digest
from agents.passages.indexer import PassageIndexer
from agents.passages.reindex import PassageReindexer, PassagesReindexed
from agents.policies.audience import Audience
from deploy.metrics.instrumented import MeasuredIndexer
from deploy.settings import Settings
from deploy.wiring import vector_index
from deploy.wiring.clock import now
from deploy.wiring.stage_parts import Wiring
from schemas.counts import counted
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies, PolicySelector
from sinks.archive.messages import Archive
from sinks.archive.participants import Participants
from sinks.embeddings.port import Embedder
from sinks.passages.backfill import BackfillProgress
from sinks.passages.renewal import PassageRenewal
from sinks.passages.store import Passages
from sinks.passages.vectors import PassageVectors
from sinks.postgres.connection import Pool
from streams.kafka.consumer_groups import ConsumerGroups

REMOVE_S = 1.0
REPORT_EVERY_S = 5.0


async def add(wiring: Wiring, embedder: Embedder) -> None:
    vectors = await wiring.resources.enter_async_context(vector_index.passage_index(wiring.settings, embedder))
    passages = Passages(wiring.pool)
    await reject_lost_index(passages, vectors)
    await vectors.ensure_collection()
    refused = RefusedPassages(wiring.publisher, now)
    vectors.on_refused = refused.publish
    indexer = MeasuredIndexer(passages, vectors, embedder, wiring.policies, wiring.meters)
    indexer.on_rejected = refused.publish_rejected
    agent = PassageAgent(Archive(wiring.pool), indexer, wiring.publisher, wiring.audience(), wiring.policies, now)
    await wiring.add("passages", lambda _app: agent.handle)
    wiring.periodic_tasks.add("removed passages", REMOVE_S, partial(passages.drop_removed, vectors))


async def reject_lost_index(passages: Passages, vectors: PassageVectors) -> None:
    """Raises Misconfigured if the index is missing although there are passages: with an empty one, search would silently use
    words alone."""
    if not await vectors.exists() and await passages.any():
        raise Misconfigured("Qdrant holds no collection for the passages that PostgreSQL has: run `memstream reindex`")


async def reindex(
    settings: Settings, pool: Pool, embedder: Embedder, policies: PolicySelector, say: Callable[[str], object]
) -> PassagesReindexed:
    """Rebuilds the passage index from PostgreSQL. Raises Misconfigured while a worker runs with another model, and
    Retryable."""
    async with vector_index.passage_index(settings, embedder) as vectors:
        if await vectors.exists() and await vectors.is_of_another_model():
            await require_stage_stopped(settings)
        audience = Audience(Participants(pool), policies)
        progress = ProgressLog(say)
        renewal = PassageRenewal(pool, vectors)
        indexer = PassageReindexer(renewal, vectors, embedder, audience, policies, progress)
        counts = await indexer.reindex()
    if counts.skipped:
        say(
            f"{counted(counts.skipped, 'passages')} without a vector, because the embedder rejects their text: see the log"
        )
    return counts


async def backfill(
    settings: Settings, pool: Pool, embedder: Embedder, policies: Policies, progress: Progress
) -> Backfilled:
    """Indexes archived messages. Raises Misconfigured for a missing or incomplete index, and Retryable."""
    async with vector_index.passage_index(settings, embedder) as vectors:
        passages = Passages(pool)
        await reject_lost_index(passages, vectors)
        await vectors.ensure_collection()
        audience = Audience(Participants(pool), policies)
        indexer = PassageIndexer(passages, vectors, embedder, policies)
        kept = BackfillProgress(pool, recall_digest(policies))
        return await Backfill(Archive(pool), kept, audience, indexer, progress).run()


async def require_stage_stopped(settings: Settings) -> None:
    """Raises Misconfigured while the stage runs with another model, and Retryable."""
    group = settings.topics().group(STAGE)
    if await ConsumerGroups(settings.cluster().client()).with_members([group]):
        raise Misconfigured(
            f"workers of {group} still embed passages with the previous model: stop them before passages are embedded again"
        )


class ProgressLog:
    """Prints progress every few seconds."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._at = time.monotonic()

    def __call__(self, messages: int) -> None:
        if time.monotonic() - self._at >= REPORT_EVERY_S:
            self._at = time.monotonic()
            self._say(f"{counted(messages, 'messages')} looked at")
