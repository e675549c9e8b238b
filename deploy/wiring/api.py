"""What the API is made of: its ports from the settings, and what is done beside the requests."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from typing import Any

from agents.api.access.authentication import KeyAuthentication, NoAuthentication
from agents.api.access.rate_limits import RateLimiter
from agents.api.budgets.consumption import Consumption
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.memories.access_counter import FLUSH_S, AccessCounter
from agents.api.memories.cache import CachedMemories
from agents.api.memories.commands import Commands
from agents.api.pipeline.status import PipelineStatus
from agents.api.policies.policy_book import PolicyBook
from agents.api.policies.reach import PolicyReach
from agents.api.ports import Authentication, Ports
from agents.api.trails.trail import MessageTrails
from agents.conversations.control import WindowControlSender
from agents.conversations.kept_counts import KeptCounts
from agents.conversations.lookup import Conversations
from agents.erasure.begin import ErasureService
from agents.passages.reading import PassageReader
from agents.profile.reading import Profiles
from agents.replay.cutover import Cutover
from agents.replay.replays import ReplayGenerations
from agents.retrieval.admission import Admission, AdmittedSearch
from deploy.metrics.api_meters import ApiMeters
from deploy.metrics.serving import MeasuredAccesses, MeasuredContexts, MeasuredRecall
from deploy.policies.files import shipped
from deploy.settings import Settings
from deploy.wiring import connections, models, policy_terms, rerankers, search
from deploy.wiring.budgets import overall
from deploy.wiring.message_ends import message_ends
from deploy.wiring.periodic import Chore, PeriodicTasks
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.kafka.records import Publisher
from schemas.retrieval.searches import LIVE
from sinks.access.audit import Audit
from sinks.access.keys import Keys
from sinks.archive.messages import Archive
from sinks.archive.retention import Sweeps
from sinks.budgets.ledger import Ledger
from sinks.budgets.usage import UsageRecords
from sinks.consolidation.runs import Runs
from sinks.embeddings.port import Embedder
from sinks.erasure.erasures import Erasures
from sinks.erasure.owners import Owners
from sinks.memories.access_counts import Accesses
from sinks.memories.command_results import CommandResults
from sinks.memories.event_history import EventHistory
from sinks.memories.exports import Exports
from sinks.memories.insights import Insights
from sinks.memories.kinds import Kinds
from sinks.memories.lexical import FullText
from sinks.memories.live import LiveMemories
from sinks.memories.namespaces import Namespaces
from sinks.memories.reader import Memories
from sinks.memories.statistics import NamespaceStatistics
from sinks.metrics.pipeline_state import PipelineState
from sinks.outbox.projector import Projector
from sinks.passages.store import Passages
from sinks.policies.lock import writing_policies
from sinks.postgres.connection import Pool, translated
from sinks.trails.trails import Trails
from sinks.vectors.qdrant import Vectors
from sinks.windows.projection import Windows
from sinks.windows.start_offsets import StartOffsets
from streams.kafka.lag import StageLags
from streams.kafka.publisher import CausedPublisher
from streams.kafka.tail import Tail

log = logging.getLogger(__name__)

CONNECTIONS = 8  # to PostgreSQL: more of them share its cores, and not more cores
COMMAND_S = 5.0  # somebody waits for every statement
USED_S = 10.0  # between notes of which keys were used
BURST_S = 6.0  # what a key may ask in so many seconds it may ask at once


async def wired(
    settings: Settings, resources: AsyncExitStack, chores: PeriodicTasks, meters: ApiMeters, *, keyed: bool
) -> Ports:
    """The ports. The chores have to be stopped before the resources are closed."""
    pool = await resources.enter_async_context(
        connections.postgres(settings, CONNECTIONS, COMMAND_S, min_size=CONNECTIONS)
    )
    await warmed(pool)
    publisher = CausedPublisher(await resources.enter_async_context(connections.kafka(settings)))
    policies = await policy_terms.current_policies(settings, publisher, resources, chores)
    terms = await policy_terms.window_terms(settings, policies, pool, chores)
    index = await search.searchable(settings, policies, resources)
    vectors = index.memories
    stored, notifier = Memories(pool), ChangeNotifier()
    memories = following(settings, stored, notifier, chores, meters)
    commands = Commands(publisher, CommandResults(pool), wait_s=settings.api_wait_s, changed=memories.forget)
    resources.push_async_callback(commands.close)
    archive, count_tokens = Archive(pool), models.token_counter(settings)
    tiers = search.retrieval(pool, index, policies)
    searched = await resources.enter_async_context(rerankers.reranked(settings, pool, policies, tiers))
    profiles, admission = Profiles(LiveMemories(pool), count_tokens, now), Admission(settings.api_questions_at_once)
    usage = Consumption(UsageRecords(pool), Ledger(pool), policies, overall(settings), now)
    letters = connections.letters(settings, publisher)
    return Ports(
        authentication=door(pool, resources, chores) if keyed else NoAuthentication(),
        rate_limiter=rates(settings.api_requests_per_minute),
        memories=memories,
        stored=stored,
        retrieval=AdmittedSearch(searched, admission),
        passages=PassageReader(Passages(pool), policies),
        accesses=counter(pool, resources, chores, meters),
        event_history=EventHistory(pool),
        change_notifier=notifier,
        commands=commands,
        vectors=vectors,
        audit=Audit(pool),
        owners=Owners(pool),
        erasures=ErasureService(Erasures(pool), partial(message_ends, settings), now),
        erasure_wait_s=settings.api_wait_s,
        exports=Exports(pool),
        statistics=NamespaceStatistics(pool),
        insights=Insights(pool),
        namespaces=Namespaces(pool),
        kinds=Kinds(pool),
        usage=usage,
        policy_book=policy_book(settings, publisher, pool),
        runs=Runs(pool),
        sweeps=Sweeps(pool),
        dead_letters=letters,
        keys=Keys(pool),
        reach=PolicyReach(Windows(pool)),
        pipeline=PipelineStatus(lags(settings, pool), PipelineState(pool), usage, letters, now, time.monotonic),
        trails=MessageTrails(Trails(pool), connections.topic_log(settings), letters, settings.topic_prefix),
        replays=replays(pool, publisher, index.memory_embedder, vectors),
        policies=policies,
        recall=MeasuredRecall(searched, archive, policies, count_tokens, now, profiles, admission, meters=meters),
        profiles=profiles,
        conversations=Conversations(Windows(pool), archive, policies),
        contexts=MeasuredContexts(archive, terms, KeptCounts(count_tokens, meters.counted), now, meters=meters),
        window_control=WindowControlSender(publisher, now, wait_s=settings.api_wait_s),
        clock=now,
        ready=partial(require_answers, pool),
    )


async def warmed(pool: Pool) -> None:
    """A connection's first search by words reads ten languages' dictionaries and plans, 40 ms of CPU in all. Done when it is
    asked for the first time, that would come just when many ask at once. Raises Retryable."""
    words = FullText(pool)
    await asyncio.gather(
        *(words.search("ready", namespaces=("",), filters=LIVE, limit=1) for _ in range(pool.get_max_size()))
    )


def replays(pool: Pool, publisher: Publisher, embedder: Embedder, vectors: Vectors) -> ReplayGenerations:
    model = vectors.embedding_model
    return ReplayGenerations(pool, Cutover(pool, Projector(pool, vectors, publisher), embedder, model, now), model)


def following(
    settings: Settings, stored: Memories, notifier: ChangeNotifier, chores: PeriodicTasks, meters: ApiMeters
) -> CachedMemories:
    """Memories kept in the process, and the notifier rung, by memory events as they come."""

    def heard(records: Sequence[Any]) -> None:
        for namespace in {(record.key or b"").decode(errors="replace") for record in records}:
            memories.forget(namespace)
            notifier.notify(namespace)

    def lapsed() -> None:
        memories.forget_all()
        notifier.notify_all()

    tail = Tail(settings.cluster().client(), settings.topics().physical(topics.EVENTS), heard, lapsed)
    memories = CachedMemories(stored, time.time, lambda: tail.heard_to, told=meters.read)
    chores.watch(asyncio.create_task(tail.run(), name="memory events"))
    return memories


def lags(settings: Settings, pool: Pool) -> StageLags:
    return StageLags(settings.cluster().client(), settings.topics(), StartOffsets(pool).recorded)


def policy_book(settings: Settings, publisher: Publisher, pool: Pool) -> PolicyBook:
    opened, writing = partial(connections.policy_topic, settings), partial(writing_policies, pool)
    return PolicyBook(opened, publisher, settings.policies(), shipped(), writing)


def door(pool: Pool, resources: AsyncExitStack, chores: PeriodicTasks) -> Authentication:
    keys = Keys(pool)
    keyed = KeyAuthentication(keys, now, time.monotonic)

    async def note() -> None:
        await keys.record_use(keyed.take_last_used())

    done_at_last("use of keys", USED_S, note, resources, chores)
    return keyed


def counter(pool: Pool, resources: AsyncExitStack, chores: PeriodicTasks, meters: ApiMeters) -> AccessCounter:
    accesses = MeasuredAccesses(Accesses(pool), now, meters)
    done_at_last("reads", FLUSH_S, accesses.flush, resources, chores)
    return accesses


def done_at_last(name: str, interval_s: float, chore: Chore, resources: AsyncExitStack, chores: PeriodicTasks) -> None:
    """A chore that is done once more at the end. What an outage loses then is a count, or a time of day."""

    async def once_more() -> None:
        try:
            await chore()
        except Retryable as exc:
            log.warning("%s: %s", name, exc)

    chores.add(name, interval_s, chore)
    resources.push_async_callback(once_more)


def rates(per_minute: int) -> RateLimiter:
    per_s = per_minute / 60
    return RateLimiter(per_s, max(1, round(per_s * BURST_S)), time.monotonic)


async def require_answers(pool: Pool) -> None:
    """Raises Retryable while PostgreSQL does not answer."""
    with translated("asking whether it answers"):
        await pool.execute("SELECT 1")


def now() -> datetime:
    return datetime.now(UTC)
