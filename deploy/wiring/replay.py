"""Wires replays and cutovers from the parts of the stages, in the process of a command."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from secrets import token_hex

from msgspec import Struct

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.resolver import Resolver
from agents.extraction.extractor import Extractor
from agents.extraction.related import RelatedMemories
from agents.models.local_only import check_policies
from agents.passages.repeated_messages import RepeatedMessages
from agents.replay.conversations import OnProgress, plan_conversations, replay_archive, replay_kafka
from agents.replay.cutover import Cutover
from agents.replay.replayer import Replayer
from agents.windows.terms import WindowTerms
from deploy.settings import Settings
from deploy.wiring import budgets, connections, models, schema_registry, vector_index
from deploy.wiring.clock import now
from schemas.errors import Misconfigured
from schemas.kafka import topics
from schemas.kafka.records import Publisher
from schemas.policies.policies import Policies
from schemas.replay.generations import Generation, Plan
from sinks.budgets.ledger import Ledger
from sinks.classification.comparer import OnnxComparer
from sinks.embeddings.port import Embedder
from sinks.extraction.answers import Extractions
from sinks.extraction.calibrations import Calibrations
from sinks.memories.reader import Memories
from sinks.memories.resolutions import Resolutions
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Pool
from sinks.replay.generations import Generations
from sinks.vectors.qdrant import Vectors
from streams.kafka.log import Log

LONGEST_STATEMENT_S = 1_800.0  # timeout: a statement may read an archive of years
MODEL_SETTING = {"claude": "claude_model", "ollama": "ollama_model"}


class ReplayParts(Struct, frozen=True):
    """The parts of a replay and a cutover."""

    settings: Settings
    pool: Pool
    embedder: Embedder
    vectors: Vectors
    publisher: Publisher
    projector: Projector
    resources: AsyncExitStack

    @property
    def generations(self) -> Generations:
        return Generations(self.pool)

    def cutover(self) -> Cutover:
        return Cutover(self.pool, self.projector, self.embedder, self.vectors.embedding_model, now)


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[ReplayParts]:
    """Opens the parts. Raises Retryable and Misconfigured."""
    await vector_index.check_local_only_by_topic(settings)
    async with AsyncExitStack() as resources:
        enter = resources.enter_async_context
        pool = await enter(connections.postgres(settings, command_timeout_s=LONGEST_STATEMENT_S))
        publisher = await enter(connections.kafka(settings))
        embedder = await vector_index.Embedders(settings, resources).of_memories()
        vectors = await enter(vector_index.qdrant(settings, embedder))
        await vectors.ensure_collection()
        yield ReplayParts(settings, pool, embedder, vectors, publisher, Projector(pool, vectors, publisher), resources)


def generation(plan: Plan, at: datetime) -> Generation:
    """A new generation, of the messages and policies until that moment."""
    return Generation(generation_id=token_hex(4), plan=plan, status="building", created_at=at, changed_at=at)


def replay_settings(settings: Settings, plan: Plan) -> Settings:
    """The settings with the plan's provider and model. Raises Misconfigured for an unknown model."""
    settings = settings.model_copy(update={"provider": plan.provider} if plan.provider else {})
    if plan.model is None:
        return settings
    if settings.provider not in MODEL_SETTING:
        named = ", ".join(MODEL_SETTING)
        raise Misconfigured(
            f"provider {settings.provider} has no models to choose from: set --provider to one of {named}"
        )
    return settings.model_copy(update={MODEL_SETTING[settings.provider]: plan.model})


async def replayer(parts: ReplayParts, generation: Generation, before: Policies) -> Replayer:
    """The replayer of a generation, closed with the parts. `before` are the policies of live messages. Raises Misconfigured if
    its provider is not available."""
    plan, pool = generation.plan, parts.pool
    settings = replay_settings(parts.settings, plan)
    vector_index.check_local_only(settings, plan.policies)
    count_tokens = models.token_counter(settings)
    budget_guard = budgets.budget_guard(settings, models.configured_models(settings), Ledger(pool), plan.policies, now)
    parts.resources.push_async_callback(budget_guard.close)
    provider = models.provider(settings, count_tokens, budget_guard)
    parts.resources.push_async_callback(provider.close)
    if reason := await provider.unavailable_reason():
        raise Misconfigured(reason)
    check_policies(plan.policies, provider)
    calibrations = Calibrations(pool)
    extractor = Extractor(
        Extractions(pool),
        provider,
        RelatedMemories(parts.embedder, parts.vectors, Memories(pool)),
        parts.publisher,
        plan.policies,
        now,
        background_concurrency=settings.background_concurrency,
        calibrations=calibrations,
    )
    parts.resources.push_async_callback(extractor.close)
    comparer = OnnxComparer()
    parts.resources.callback(comparer.close)
    curator = Curator(
        pool,
        parts.vectors,
        parts.embedder,
        parts.projector,
        plan.policies,
        now,
        Compactor(provider, parts.embedder),
        Editor(provider),
        resolver=Resolver(provider, Resolutions(pool), now),
        comparer=comparer,
        said_again=RepeatedMessages(),
        concurrency=settings.curation_concurrency,
    )
    terms = WindowTerms(plan.policies, models.model_limits(settings), models.slice_token_limit(settings))
    terms.calibrated(await calibrations.all())
    made = Replayer(
        generation,
        parts.generations,
        extractor,
        curator,
        terms,
        before,
        count_tokens,
        now,
        f"replay {socket.gethostname()}/{os.getpid()}",
        concurrency=settings.background_concurrency,
    )
    parts.resources.push_async_callback(made.close)
    return made


async def begin(parts: ReplayParts, generation: Generation, replayer: Replayer) -> None:
    """Stores the generation with its archived conversations."""
    from_archive = generation.plan.source == "archive"
    conversations = await plan_conversations(parts.generations, generation, replayer) if from_archive else []
    await parts.generations.begin(generation, conversations)


async def replay(parts: ReplayParts, generation: Generation, replayer: Replayer, on_progress: OnProgress) -> None:
    """Replays the rest of the generation and marks it as ready. Raises Misconfigured if another process replays it, or it is
    done."""
    async with parts.generations.held(generation.generation_id):
        # Checked again under the lock: the state may have changed before it was held.
        await resumable_generation(parts.generations, generation.generation_id)
        await replay_held(parts, generation, replayer, on_progress)


async def replay_held(parts: ReplayParts, generation: Generation, replayer: Replayer, on_progress: OnProgress) -> None:
    if generation.plan.source == "archive":
        await replay_archive(parts.generations, generation, replayer, on_progress)
    else:
        async with schema_registry.record_decoder(parts.settings) as reading:
            log = Log(parts.settings.cluster().client(), reading=reading)
            topic = parts.settings.topics().physical(topics.MESSAGES)
            await replay_kafka(log, topic, parts.generations, generation, replayer, on_progress)
    await parts.generations.ready(generation.generation_id, now())


async def resumable_generation(generations: Generations, generation_id: str) -> Generation:
    """Raises Misconfigured unless the generation has conversations left to replay."""
    generation = await generations.get(generation_id)
    if generation is None:
        raise Misconfigured(f"there is no generation {generation_id!r}: see `memstream generations list`")
    if generation.status != "building":
        raise Misconfigured(f"generation {generation_id} is {generation.status}: it can no longer be replayed")
    return generation
