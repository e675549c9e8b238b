"""Wires a replay, and what switches to it: the stages' own parts, in the process of a command."""

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
from agents.replay.conversations import Told, plan_conversations, replay_archive, replay_kafka
from agents.replay.cutover import Cutover
from agents.replay.replayer import Replayer
from agents.windows.terms import WindowTerms
from deploy.settings import Settings
from deploy.wiring import budgets, connections, models, schema_registry, vector_index
from deploy.wiring.stage_parts import now
from schemas.errors import Misconfigured
from schemas.kafka import topics
from schemas.kafka.records import Publisher
from schemas.policies.policies import Policies
from schemas.replay.generations import Generation, Plan
from sinks.budgets.ledger import Ledger
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

LONGEST_STATEMENT_S = 1_800.0  # going through an archive of years
MODEL_SETTING = {"claude": "claude_model", "ollama": "ollama_model"}


class Parts(Struct, frozen=True):
    """What a replay and a cutover are made of."""

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
async def connected(settings: Settings) -> AsyncIterator[Parts]:
    """Raises Retryable, Misconfigured."""
    await vector_index.refuse_by_topic(settings)
    async with AsyncExitStack() as resources:
        enter = resources.enter_async_context
        pool = await enter(connections.postgres(settings, command_timeout_s=LONGEST_STATEMENT_S))
        publisher = await enter(connections.kafka(settings))
        embedder = await vector_index.Embedders(settings, resources).of_memories()
        vectors = await enter(vector_index.qdrant(settings, embedder))
        await vectors.ensure_collection()
        yield Parts(settings, pool, embedder, vectors, publisher, Projector(pool, vectors, publisher), resources)


def generation(plan: Plan, at: datetime) -> Generation:
    """A new one, of what was said and known until a moment."""
    return Generation(generation_id=token_hex(4), plan=plan, status="building", created_at=at, changed_at=at)


def asking(settings: Settings, plan: Plan) -> Settings:
    """The settings with the provider and the model that the plan names. Raises Misconfigured for a model that nobody has."""
    settings = settings.model_copy(update={"provider": plan.provider} if plan.provider else {})
    if plan.model is None:
        return settings
    if settings.provider not in MODEL_SETTING:
        named = ", ".join(MODEL_SETTING)
        raise Misconfigured(
            f"provider {settings.provider} has no models to choose from: say --provider with one of {named}"
        )
    return settings.model_copy(update={MODEL_SETTING[settings.provider]: plan.model})


async def replayer(parts: Parts, generation: Generation, before: Policies) -> Replayer:
    """For a generation; ended with the parts. `before` are the policies of live messages."""
    plan, pool = generation.plan, parts.pool
    settings = asking(parts.settings, plan)
    vector_index.refuse_if_texts_must_stay(settings, plan.policies)
    count_tokens = models.token_counter(settings)
    energy = budgets.energy(settings, models.asked(settings), Ledger(pool), plan.policies, now)
    parts.resources.push_async_callback(energy.close)
    provider = models.provider(settings, count_tokens, energy)
    parts.resources.push_async_callback(provider.close)
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
        concurrency=settings.curation_concurrency,
    )
    terms = WindowTerms(plan.policies, models.model_limits(settings), models.most_slice_tokens(settings))
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


async def begin(parts: Parts, generation: Generation, replayer: Replayer) -> None:
    """Records the generation, with what the archive has for it."""
    from_archive = generation.plan.source == "archive"
    conversations = await plan_conversations(parts.generations, generation, replayer) if from_archive else []
    await parts.generations.begin(generation, conversations)


async def replay(parts: Parts, generation: Generation, replayer: Replayer, told: Told) -> None:
    """Replays all of it that is not replayed yet; it is ready then. Raises Misconfigured while somebody else does, or after."""
    async with parts.generations.held(generation.generation_id):
        # Once more: what was so before it was held may not be so any more.
        await interrupted(parts.generations, generation.generation_id)
        await replay_held(parts, generation, replayer, told)


async def replay_held(parts: Parts, generation: Generation, replayer: Replayer, told: Told) -> None:
    if generation.plan.source == "archive":
        await replay_archive(parts.generations, generation, replayer, told)
    else:
        async with schema_registry.reading(parts.settings) as reading:
            log = Log(parts.settings.cluster().client(), reading=reading)
            topic = parts.settings.topics().physical(topics.MESSAGES)
            await replay_kafka(log, topic, parts.generations, generation, replayer, told)
    await parts.generations.ready(generation.generation_id, now())


async def interrupted(generations: Generations, generation_id: str) -> Generation:
    """Raises Misconfigured unless there is something left to replay."""
    generation = await generations.get(generation_id)
    if generation is None:
        raise Misconfigured(f"there is no generation {generation_id!r}: see `memstream generations list`")
    if generation.status != "building":
        raise Misconfigured(f"generation {generation_id} is {generation.status}: nothing of it is left to replay")
    return generation
