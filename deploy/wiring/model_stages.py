"""Wires the stages that call models and compare memories: extraction and curation."""

import logging
import os
import socket
from collections.abc import Collection
from functools import partial

from agents.budgets.budget_guard import LedgerBudgetGuard
from agents.budgets.usage_publisher import UsagePublisher
from agents.curation.agent import CurationAgent
from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.resolver import Resolver
from agents.erasure.begin import ErasureService
from agents.erasure.wishes import ErasureWishes
from agents.extraction.agent import ExtractionAgent
from agents.extraction.batches.agent import BatchAgent
from agents.extraction.extractor import LEASE_S, Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.extraction.parked_requests import ParkedRequestAgent
from agents.extraction.related import RelatedMemories
from agents.models.batches import ModelBatches
from agents.models.local_only import check_policies
from agents.models.one_language import translation_warning
from agents.models.port import Provider
from agents.passages.repeated_messages import RepeatedMessages
from agents.stage.loop import Handle
from deploy.metrics.instrumented import MeasuredLedger, MeasuredProvider
from deploy.metrics.sampling import provider_states
from deploy.settings import Settings
from deploy.wiring import budgets, connections, consolidation, models, vector_index
from deploy.wiring.clock import now
from deploy.wiring.erasure import add_completing, remains_of_memory
from deploy.wiring.message_ends import message_ends
from deploy.wiring.stage_parts import Wiring
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies
from sinks.budgets.usage import UsageRecords
from sinks.classification.comparer import OnnxComparer
from sinks.classification.port import Comparer
from sinks.embeddings.port import Embedder
from sinks.erasure.erasures import Erasures
from sinks.extraction.answers import Extractions
from sinks.extraction.batches import Batches
from sinks.extraction.calibrations import Calibrations
from sinks.extraction.parked import Parking
from sinks.memories.reader import Memories
from sinks.memories.resolutions import Resolutions
from sinks.metrics.pipeline_state import PipelineState
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Pool
from sinks.vectors.qdrant import Vectors
from streams.delivery.app import StageApp

log = logging.getLogger(__name__)

SWEEP_S = 5.0
EXPIRE_S = 30.0
RESUME_S = 1.0
BATCHES_S = 5.0
USAGE_S = 5.0
ASK_S = 15.0
LEASE_CONNECTIONS = 4


def shared_embedders(wiring: Wiring) -> vector_index.Embedders:
    """The embedders of a worker's stages. Raises Misconfigured if a policy forbids to send texts and an embedder would."""
    check_policies_of_embedder = partial(vector_index.check_local_only, wiring.settings)
    check_policies_of_embedder(wiring.policies.now)
    # A worker stops if a new policy forbids to send texts that the embedder sends.
    wiring.policies.add_listener(check_policies_of_embedder)
    return vector_index.Embedders(wiring.settings, wiring.resources)


async def add(wiring: Wiring, stages: Collection[str], embedder: Embedder) -> None:
    """Adds extraction and curation, as far as they are among `stages`, with one index and provider. Raises Misconfigured."""
    settings = wiring.settings
    vectors = await wiring.resources.enter_async_context(vector_index.qdrant(settings, embedder))
    await reject_lost_index(wiring.pool, vectors)
    await vectors.ensure_collection()
    provider = model_provider(wiring)
    comparer = OnnxComparer()
    wiring.resources.callback(comparer.close)
    if "extraction" in stages:
        leases = await lease_connections(wiring)
        await add_extraction(wiring, leases, provider, embedder, vectors)
        consolidation.add(wiring, leases, provider, embedder, vectors, comparer)
    if "curation" in stages:
        await add_curation(wiring, provider, embedder, vectors, comparer)


async def reject_lost_index(pool: Pool, vectors: Vectors) -> None:
    """Raises Misconfigured if the index is missing although there are memories: an empty one would let memories be stored
    twice."""
    if not await vectors.exists() and await Memories(pool).any():
        raise Misconfigured("Qdrant holds no collection for the memories that PostgreSQL has: run `memstream reindex`")


def model_provider(wiring: Wiring) -> Provider:
    settings = wiring.settings
    provider = models.provider(settings, models.token_counter(settings), budget_guard(wiring))
    wiring.resources.push_async_callback(provider.close)
    check_policies(wiring.policies.now, provider)
    warn_of_one_language(wiring.policies.now, settings)
    wiring.policies.add_listener(lambda changed: warn_of_local_only(changed, provider))
    wiring.policies.add_listener(lambda changed: warn_of_one_language(changed, settings))
    state = PipelineState(wiring.pool)
    worker = f"{socket.gethostname()}/{os.getpid()}"

    async def look() -> None:
        await state.note_providers(worker, await provider_states(wiring.meters, models.inner_providers(provider)))

    wiring.periodic_tasks.add("providers", ASK_S, look)
    return provider


def budget_guard(wiring: Wiring) -> LedgerBudgetGuard:
    """The budget guard; a background task books and publishes the usage."""
    models_used = models.configured_models(wiring.settings)
    budget_guard = budgets.budget_guard(
        wiring.settings, models_used, MeasuredLedger(wiring.pool, wiring.meters), wiring.policies.now, now
    )
    wiring.resources.push_async_callback(budget_guard.close)
    wiring.periodic_tasks.add("usage", USAGE_S, budget_guard.book)
    wiring.periodic_tasks.add(
        "usage notices", USAGE_S, UsagePublisher(UsageRecords(wiring.pool), wiring.publisher).publish
    )
    return budget_guard


def warn_of_local_only(policies: Policies, provider: Provider) -> None:
    """Logs a warning for policies that forbid to send texts, while the provider would: their conversations become dead
    letters."""
    try:
        check_policies(policies, provider)
    except Misconfigured as exc:
        log.error("conversations of this policy become dead letters: %s", exc)


def warn_of_one_language(policies: Policies, settings: Settings) -> None:
    """Logs a warning for policies with one language, if the offline rules may answer: they cannot translate."""
    if warning := translation_warning(policies, models.provider_names(settings)):
        log.warning("%s", warning)


async def lease_connections(wiring: Wiring) -> Pool:
    """Connections for leases alone, so that renewals never wait for statements that store messages, answers and passages. The
    time limit keeps a statement that waits for a locked row from delaying other renewals for too long."""
    return await wiring.resources.enter_async_context(
        connections.postgres(wiring.settings, LEASE_CONNECTIONS, command_timeout_s=LEASE_S / 2)
    )


async def add_extraction(
    wiring: Wiring, leases: Pool, provider: Provider, embedder: Embedder, vectors: Vectors
) -> None:
    settings, periodic_tasks, resources = wiring.settings, wiring.periodic_tasks, wiring.resources
    extractions, parking = Extractions(wiring.pool, leases), Parking(wiring.pool)
    extractor = Extractor(
        extractions,
        MeasuredProvider(provider, wiring.meters),
        RelatedMemories(embedder, vectors, Memories(wiring.pool)),
        wiring.publisher,
        wiring.policies,
        now,
        concurrency=settings.extraction_concurrency,
        background_concurrency=settings.background_concurrency,
        calibrations=Calibrations(wiring.pool),
        on_batch_answer=wiring.meters.answered,
    )
    outcomes = RequestOutcomes(extractions, wiring.publisher, now, extractor.without_erased)
    resuming = ParkedRequestAgent(Parking(leases), extractor, outcomes, wiring.worker, settings.slots())
    resources.push_async_callback(resuming.close)
    batches = await models.model_batches(provider)

    def handle(app: StageApp) -> Handle:
        agent = ExtractionAgent(
            app,
            extractor,
            outcomes,
            parking,
            wiring.policies,
            wiring.worker,
            now,
            batches=batches,
            in_flight=sum(settings.slots().values()),
        )
        resources.push_async_callback(agent.close)  # stopped before the resources of running calls are closed
        app.beside.append(lambda: resuming.under_way)
        periodic_tasks.add("parked requests", RESUME_S, resuming.tick)
        if batches is not None:
            periodic_tasks.add("batches", BATCHES_S, batch_agent(wiring, leases, extractor, outcomes, batches).tick)
        return agent.handle

    await wiring.add("extraction", handle)


def batch_agent(
    wiring: Wiring, leases: Pool, extractor: Extractor, outcomes: RequestOutcomes, batches: ModelBatches
) -> BatchAgent:
    return BatchAgent(
        Batches(wiring.pool, leases),
        batches,
        extractor,
        outcomes,
        Memories(wiring.pool),
        wiring.policies,
        wiring.worker,
        now,
        bounds=wiring.settings.batch_bounds(),
        poll_s=wiring.settings.batch_poll_s,
    )


async def add_curation(
    wiring: Wiring, provider: Provider, embedder: Embedder, vectors: Vectors, comparer: Comparer
) -> None:
    measured = MeasuredProvider(provider, wiring.meters)
    projector = Projector(wiring.pool, vectors, wiring.outbox)
    ends, kept = partial(message_ends, wiring.settings), Erasures(wiring.pool)
    curator = Curator(
        wiring.pool,
        vectors,
        embedder,
        projector,
        wiring.policies,
        now,
        Compactor(measured, embedder),
        Editor(measured),
        resolver=Resolver(measured, Resolutions(wiring.pool), now),
        comparer=comparer,
        ends=ends,
        remains=partial(remains_of_memory, wiring.settings),
        said_again=RepeatedMessages(),
        erasures=ErasureWishes(ErasureService(kept, ends, now), kept, now),
        concurrency=wiring.settings.curation_concurrency,
        count_tokens=models.token_counter(wiring.settings),
    )

    def handle(app: StageApp) -> Handle:
        agent = CurationAgent(app, curator, wiring.settings.topics(), wiring.publisher, now)
        wiring.resources.push_async_callback(agent.close)
        return agent.handle

    await wiring.add("curation", handle)
    wiring.periodic_tasks.add("outbox sweep", SWEEP_S, projector.sweep)
    wiring.periodic_tasks.add("expiry", EXPIRE_S, curator.expire)
    add_completing(wiring)
