"""Wires consolidation into workers that call models: the scheduler, of which one leads, and dry runs."""

from agents.consolidation.dry_runs import DryRunAgent, ExtractionServices
from agents.consolidation.scheduler import Scheduler
from agents.curation.editor import Editor
from agents.curation.forecast import Forecast
from agents.extraction.related import RelatedMemories
from agents.models.port import Provider
from agents.windows.terms import WindowTerms
from deploy.wiring import models
from deploy.wiring.clock import now
from deploy.wiring.stage_parts import Wiring
from sinks.archive.messages import Archive
from sinks.classification.port import Comparer
from sinks.consolidation.dry_runs import DryRuns
from sinks.embeddings.port import Embedder
from sinks.extraction.answers import Extractions
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool
from sinks.postgres.leaders import Leadership
from sinks.vectors.qdrant import Vectors

TICK_S = 1.0


def add(
    wiring: Wiring, leases: Pool, provider: Provider, embedder: Embedder, vectors: Vectors, comparer: Comparer
) -> None:
    """Adds the background tasks, which run until the wiring's resources close."""
    pool, resources = wiring.pool, wiring.resources
    leading = Leadership(pool, "scheduler", wiring.worker)
    scheduler = Scheduler(leading, wiring.policies, wiring.publisher, now)
    resources.push_async_callback(scheduler.close)
    wiring.periodic_tasks.add("consolidation", TICK_S, scheduler.tick)

    def forecast() -> Forecast:
        return Forecast(pool, vectors, embedder, Editor(provider), now, comparer)

    dry_runs = DryRunAgent(
        DryRuns(pool, leases), extraction_services(wiring, provider, embedder, vectors), forecast, wiring.worker, now
    )
    resources.push_async_callback(dry_runs.close)
    wiring.periodic_tasks.add("dry runs", TICK_S, dry_runs.tick)


def extraction_services(wiring: Wiring, provider: Provider, embedder: Embedder, vectors: Vectors) -> ExtractionServices:
    settings, policies = wiring.settings, wiring.policies
    terms = WindowTerms(policies.now, models.model_limits(settings), models.slice_token_limit(settings))
    policies.add_listener(terms.governed)
    return ExtractionServices(
        provider=provider,
        related=RelatedMemories(embedder, vectors, Memories(wiring.pool)),
        extractions=Extractions(wiring.pool),
        archive=Archive(wiring.pool),
        terms=terms,
        count_tokens=models.token_counter(settings),
    )
