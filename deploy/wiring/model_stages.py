"""Wires the stages that ask models and compare memories: extraction and curation."""

import logging
import os
import socket
from collections.abc import Collection
from functools import partial

from agents.budgets.energy import BudgetedEnergy
from agents.budgets.usage_notices import UsagePublisher
from agents.curation.agent import CurationAgent
from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.resolver import Resolver
from agents.erasure.begin import ErasureService
from agents.erasure.wishes import ErasureWishes
from agents.extraction.agent import ExtractionAgent
from agents.extraction.batches.agent import BatchAgent
from agents.extraction.extractor import Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.extraction.parked import ParkedRequestAgent
from agents.extraction.related import RelatedMemories
from agents.models.batches import ModelBatches
from agents.models.local_only import check_policies
from agents.models.port import Provider
from agents.stage.loop import Handle
from deploy.metrics.instrumented import MeasuredLedger, MeasuredProvider
from deploy.metrics.sampled import ask
from deploy.wiring import budgets, consolidation, models, vector_index
from deploy.wiring.erasure import add_completing
from deploy.wiring.message_ends import message_ends
from deploy.wiring.stage_parts import Wiring, now
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies
from sinks.budgets.usage import UsageRecords
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


def shared_embedders(wiring: Wiring) -> vector_index.Embedders:
    """Those of all stages of a worker. Raises Misconfigured where a policy keeps texts on this machine that they would send
    elsewhere."""
    keep_texts_here = partial(vector_index.refuse_if_texts_must_stay, wiring.settings)
    keep_texts_here(wiring.policies.now)
    wiring.policies.add_listener(keep_texts_here)  # a worker stops rather than embed elsewhere what has to stay
    return vector_index.Embedders(wiring.settings, wiring.resources)


async def add(wiring: Wiring, stages: Collection[str], embedder: Embedder) -> None:
    """Those of the two that are among `stages`, on one index and provider. Raises Misconfigured."""
    settings = wiring.settings
    vectors = await wiring.resources.enter_async_context(vector_index.qdrant(settings, embedder))
    await refuse_a_lost_index(wiring.pool, vectors)
    await vectors.ensure_collection()
    provider = model_provider(wiring)
    if "extraction" in stages:
        await add_extraction(wiring, provider, embedder, vectors)
        consolidation.add(wiring, provider, embedder, vectors)
    if "curation" in stages:
        await add_curation(wiring, provider, embedder, vectors)


async def refuse_a_lost_index(pool: Pool, vectors: Vectors) -> None:
    """An empty one in its place would let everything be remembered a second time."""
    if not await vectors.exists() and await Memories(pool).any():
        raise Misconfigured("Qdrant holds no collection for the memories that PostgreSQL has: run `memstream reindex`")


def model_provider(wiring: Wiring) -> Provider:
    settings = wiring.settings
    provider = models.provider(settings, models.token_counter(settings), energy(wiring))
    wiring.resources.push_async_callback(provider.close)
    check_policies(wiring.policies.now, provider)
    wiring.policies.add_listener(lambda changed: warn_of_leaving(changed, provider))
    state = PipelineState(wiring.pool)
    worker = f"{socket.gethostname()}/{os.getpid()}"

    async def look() -> None:
        await state.note_providers(worker, await ask(wiring.meters, models.each(provider)))

    wiring.chores.add("providers", ASK_S, look)
    return provider


def energy(wiring: Wiring) -> BudgetedEnergy:
    """What models may be asked for; what they consumed is booked and told beside the work."""
    asked = models.asked(wiring.settings)
    energy = budgets.energy(
        wiring.settings, asked, MeasuredLedger(wiring.pool, wiring.meters), wiring.policies.now, now
    )
    wiring.resources.push_async_callback(energy.close)
    wiring.chores.add("usage", USAGE_S, energy.book)
    wiring.chores.add("usage notices", USAGE_S, UsagePublisher(UsageRecords(wiring.pool), wiring.publisher).publish)
    return energy


def warn_of_leaving(policies: Policies, provider: Provider) -> None:
    """A policy that comes while work goes on does not stop it: what it keeps here goes to the dead letters instead."""
    try:
        check_policies(policies, provider)
    except Misconfigured as exc:
        log.error("its conversations go to the dead letters: %s", exc)


async def add_extraction(wiring: Wiring, provider: Provider, embedder: Embedder, vectors: Vectors) -> None:
    settings, chores, resources = wiring.settings, wiring.chores, wiring.resources
    extractions, parking = Extractions(wiring.pool), Parking(wiring.pool)
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
        taken=wiring.meters.answered,
    )
    outcomes = RequestOutcomes(extractions, wiring.publisher, now, extractor.without_erased)
    resuming = ParkedRequestAgent(parking, extractor, outcomes, wiring.worker, settings.slots())
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
        resources.push_async_callback(agent.close)  # before what its running calls use is closed
        app.beside.append(lambda: resuming.under_way)
        chores.add("parked requests", RESUME_S, resuming.tick)
        if batches is not None:
            chores.add("batches", BATCHES_S, batch_agent(wiring, extractor, outcomes, batches).tick)
        return agent.handle

    await wiring.add("extraction", handle)


def batch_agent(wiring: Wiring, extractor: Extractor, outcomes: RequestOutcomes, batches: ModelBatches) -> BatchAgent:
    return BatchAgent(
        Batches(wiring.pool),
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


async def add_curation(wiring: Wiring, provider: Provider, embedder: Embedder, vectors: Vectors) -> None:
    asked = MeasuredProvider(provider, wiring.meters)
    projector = Projector(wiring.pool, vectors, wiring.outbox)
    ends, kept = partial(message_ends, wiring.settings), Erasures(wiring.pool)
    curator = Curator(
        wiring.pool,
        vectors,
        embedder,
        projector,
        wiring.policies,
        now,
        Compactor(asked, embedder),
        Editor(asked),
        resolver=Resolver(asked, Resolutions(wiring.pool), now),
        ends=ends,
        erasures=ErasureWishes(ErasureService(kept, ends, now), kept, now),
        concurrency=wiring.settings.curation_concurrency,
        count_tokens=models.token_counter(wiring.settings),
    )

    def handle(app: StageApp) -> Handle:
        agent = CurationAgent(app, curator, wiring.settings.topics(), wiring.publisher, now)
        wiring.resources.push_async_callback(agent.close)
        return agent.handle

    await wiring.add("curation", handle)
    wiring.chores.add("outbox sweep", SWEEP_S, projector.sweep)
    wiring.chores.add("expiry", EXPIRE_S, curator.expire)
    add_completing(wiring)
