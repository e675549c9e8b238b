"""Wires the API: its ports from the settings, and its background tasks."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from msgspec import Struct

from agents.api.access.authentication import NoAuthentication
from agents.api.access.rate_limits import RateLimiter
from agents.api.budgets.usage_report import UsageReport
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.memories.cache import CachedMemories
from agents.api.memories.commands import Commands
from agents.api.memories.memory_row_cache import MemoryRowCache
from agents.api.pipeline.status import PipelineStatus
from agents.api.policies.policy_preview import PolicyPreview
from agents.api.policies.policy_service import PolicyService
from agents.api.ports import Ports
from agents.api.trails.trail import MessageTrails
from agents.conversations.control import WindowControlSender
from agents.conversations.listing import ConversationList
from agents.conversations.lookup import Conversations
from agents.conversations.token_count_cache import TokenCountCache
from agents.conversations.user_settings import UserSettingsService
from agents.erasure.begin import ErasureService
from agents.passages.passage_reader import PassageReader
from agents.policies.reader import CurrentPolicies
from agents.profile.profile_reader import Profiles
from agents.replay.cutover import Cutover
from agents.replay.replays import ReplayGenerations
from agents.retrieval.admission import Admission, AdmittedSearch
from agents.retrieval.ports import SearchService
from agents.windows.terms import WindowTerms
from deploy.metrics.api_meters import ApiMeters
from deploy.metrics.measured_services import MeasuredContexts, MeasuredRecall
from deploy.policies.files import shipped
from deploy.settings import Settings
from deploy.wiring import connections, models, policy_terms, rerankers, search
from deploy.wiring.api_counters import access_counter, key_authentication, read_meter, retrieval_counter
from deploy.wiring.budgets import overall
from deploy.wiring.clock import now
from deploy.wiring.message_ends import message_ends
from deploy.wiring.periodic import PeriodicTasks
from deploy.wiring.search import Index
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
from sinks.erasure.erasures import Erasures
from sinks.erasure.owners import Owners
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
from sinks.postgres.connection import Pool, translated
from sinks.postgres.policy_lock import writing_policies
from sinks.trails.trails import Trails
from sinks.windows.projection import Windows
from sinks.windows.start_offsets import StartOffsets
from sinks.windows.user_settings import UserSettings
from streams.kafka.lag import StageLags
from streams.kafka.publisher import CausedPublisher
from streams.kafka.tail import Tail
from streams.windows.tokens.counting import TokenCount

CONNECTIONS = 8  # to PostgreSQL; more connections would only share its cores
COMMAND_S = 5.0  # statement timeout: a client waits for every statement
WARM_S = 0.2  # interval of reads of new memory events
BURST_S = 6.0  # a key may send the requests of this many seconds at once


class Connected(Struct, frozen=True):
    """The resources that most ports need."""

    pool: Pool
    publisher: Publisher
    policies: CurrentPolicies
    terms: WindowTerms
    index: Index


async def connected(settings: Settings, resources: AsyncExitStack, periodic_tasks: PeriodicTasks) -> Connected:
    pool = await resources.enter_async_context(
        connections.postgres(settings, CONNECTIONS, COMMAND_S, min_size=CONNECTIONS)
    )
    await warm_up(pool)
    publisher = CausedPublisher(await resources.enter_async_context(connections.kafka(settings)))
    policies = await policy_terms.current_policies(settings, publisher, resources, periodic_tasks)
    terms = await policy_terms.window_terms(settings, policies, pool, periodic_tasks)
    return Connected(pool, publisher, policies, terms, await search.open_indexes(settings, policies, resources))


async def wire_ports(
    settings: Settings, resources: AsyncExitStack, periodic_tasks: PeriodicTasks, meters: ApiMeters, *, keyed: bool
) -> Ports:
    """The ports of the API. Stop the background tasks before closing the resources."""
    opened = await connected(settings, resources, periodic_tasks)
    pool, publisher, policies, index = opened.pool, opened.publisher, opened.policies, opened.index
    stored, notifier = Memories(pool), ChangeNotifier()
    counts = retrieval_counter(pool, resources, periodic_tasks)
    row_cache = memory_row_cache(stored, meters)
    memories = cached_memories(settings, stored, row_cache, notifier, periodic_tasks, read_meter(meters, counts))
    archive, count_tokens = Archive(pool), models.token_counter(settings)
    searched = await search_service(settings, opened, row_cache, resources)
    profiles, admission = Profiles(LiveMemories(pool), count_tokens, now), Admission(settings.api_questions_at_once)
    control = WindowControlSender(publisher, now, wait_s=settings.api_wait_s)
    usage = UsageReport(UsageRecords(pool), Ledger(pool), policies, overall(settings), now)
    dead_letters = connections.dead_letter_queue(settings, publisher)
    return Ports(
        authentication=key_authentication(pool, resources, periodic_tasks) if keyed else NoAuthentication(),
        rate_limiter=rate_limiter_of(settings.api_requests_per_minute),
        memories=memories,
        stored=stored,
        retrieval=AdmittedSearch(searched, admission),
        passages=PassageReader(Passages(pool), policies),
        accesses=access_counter(pool, resources, periodic_tasks, meters),
        retrieval_counts=counts,
        event_history=EventHistory(pool),
        change_notifier=notifier,
        commands=command_sender(settings, opened, memories, resources),
        vectors=index.memories,
        audit=Audit(pool),
        owners=Owners(pool),
        erasures=ErasureService(Erasures(pool), partial(message_ends, settings), now),
        erasure_wait_s=settings.api_wait_s,
        window_wait_s=settings.api_wait_s,
        exports=Exports(pool),
        statistics=NamespaceStatistics(pool),
        insights=Insights(pool),
        namespaces=Namespaces(pool),
        kinds=Kinds(pool),
        usage=usage,
        policy_service=policy_service(settings, publisher, pool),
        runs=Runs(pool),
        sweeps=Sweeps(pool),
        dead_letters=dead_letters,
        keys=Keys(pool),
        policy_preview=PolicyPreview(Windows(pool)),
        pipeline=PipelineStatus(lags(settings, pool), PipelineState(pool), usage, dead_letters, now, time.monotonic),
        trails=MessageTrails(Trails(pool), connections.topic_log(settings), dead_letters, settings.topic_prefix),
        replays=replays(pool, publisher, index),
        policies=policies,
        recall=MeasuredRecall(searched, archive, policies, count_tokens, now, profiles, admission, meters=meters),
        profiles=profiles,
        conversations=Conversations(Windows(pool), archive, policies),
        archive=archive,
        conversation_list=ConversationList(Windows(pool), archive, policies),
        contexts=measured_contexts(opened, count_tokens, meters),
        window_control=control,
        user_settings=UserSettingsService(UserSettings(pool), Windows(pool), control, now),
        clock=now,
        ready=partial(require_postgres, pool),
    )


def memory_row_cache(stored: Memories, meters: ApiMeters) -> MemoryRowCache:
    """The cache of memories for searches and context blocks."""
    row_cache = MemoryRowCache(stored, on_read=meters.found)
    meters.retrieval_cache_bytes.set_function(lambda: row_cache.bytes)
    return row_cache


def command_sender(
    settings: Settings, opened: Connected, memories: CachedMemories, resources: AsyncExitStack
) -> Commands:
    """The sender of commands. A memory leaves the cache with the result of its change."""
    results = CommandResults(opened.pool)
    commands = Commands(opened.publisher, results, wait_s=settings.api_wait_s, on_outcome=memories.forget)
    resources.push_async_callback(commands.close)
    return commands


async def search_service(
    settings: Settings, opened: Connected, row_cache: MemoryRowCache, resources: AsyncExitStack
) -> SearchService:
    """Search over memories and passages, with the configured reranker."""
    tiers = search.retrieval(opened.pool, opened.index, opened.policies, row_cache)
    return await resources.enter_async_context(rerankers.reranked(settings, opened.pool, opened.policies, tiers))


def measured_contexts(opened: Connected, count_tokens: TokenCount, meters: ApiMeters) -> MeasuredContexts:
    """Contexts of conversations, with cached token counts."""
    cached = TokenCountCache(count_tokens, meters.counted)
    return MeasuredContexts(Archive(opened.pool), opened.terms, cached, now, meters=meters)


async def warm_up(pool: Pool) -> None:
    """Runs a first full-text search on each connection: it loads ten languages' dictionaries and plans, 40 ms of CPU in all,
    which would otherwise delay the first requests. Raises Retryable."""
    words = FullText(pool)
    await asyncio.gather(
        *(words.search("ready", namespaces=("",), filters=LIVE, limit=1) for _ in range(pool.get_max_size()))
    )


def replays(pool: Pool, publisher: Publisher, index: Index) -> ReplayGenerations:
    vectors, embedder = index.memories, index.memory_embedder
    model = vectors.embedding_model
    return ReplayGenerations(pool, Cutover(pool, Projector(pool, vectors, publisher), embedder, model, now), model)


def cached_memories(
    settings: Settings,
    stored: Memories,
    row_cache: MemoryRowCache,
    notifier: ChangeNotifier,
    periodic_tasks: PeriodicTasks,
    on_read: Callable[[bool, str], None],
) -> CachedMemories:
    """The cache of memories, the warm memories of searches, and the change notifier, all driven by memory events."""

    def on_records(records: Sequence[Any]) -> None:
        row_cache.apply_events(records)
        for namespace in {(record.key or b"").decode(errors="replace") for record in records}:
            memories.forget(namespace)
            notifier.notify(namespace)

    def on_gap() -> None:
        memories.forget_all()
        row_cache.forget_all()
        notifier.notify_all()

    tail = Tail(settings.cluster().client(), settings.topics().physical(topics.EVENTS), on_records, on_gap)
    memories = CachedMemories(stored, time.time, lambda: tail.caught_up_to, on_read=on_read)
    periodic_tasks.watch(asyncio.create_task(tail.run(), name="memory events"))
    periodic_tasks.add("new memories", WARM_S, row_cache.warm)
    return memories


def lags(settings: Settings, pool: Pool) -> StageLags:
    return StageLags(settings.cluster().client(), settings.topics(), StartOffsets(pool).recorded)


def policy_service(settings: Settings, publisher: Publisher, pool: Pool) -> PolicyService:
    topic, lock = partial(connections.policy_topic, settings), partial(writing_policies, pool)
    return PolicyService(topic, publisher, settings.policies(), shipped(), lock)


def rate_limiter_of(per_minute: int) -> RateLimiter:
    per_s = per_minute / 60
    return RateLimiter(per_s, max(1, round(per_s * BURST_S)), time.monotonic)


async def require_postgres(pool: Pool) -> None:
    """Raises Retryable while PostgreSQL does not answer."""
    with translated("checking the connection"):
        await pool.execute("SELECT 1")
