"""The composition root of the API: its ports from the settings, a server around them, and an end in order.

Nothing else imports this but `memstream serve`: the web framework takes longer to import than most commands take.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from agents.api.accesses import FLUSH_S, AccessCounter
from agents.api.app import create_app
from agents.api.auth import KeyedDoor, OpenDoor
from agents.api.bell import Bell
from agents.api.cached import CachedMemories
from agents.api.commands import Commands
from agents.api.limits import Rates
from agents.api.ports import Ports
from agents.conversations.contexts import Contexts
from agents.conversations.control import ByHandSender
from agents.conversations.finding import Conversations
from agents.retrieval.recall import Recall
from deploy import connections, governing, indexing, models
from deploy.chores import Chore, Chores
from deploy.http_server import bracketed, listener, run
from deploy.searching import retrieval
from deploy.settings import Settings
from schemas import topics
from schemas.addresses import is_loopback
from schemas.errors import Misconfigured, Retryable
from sinks.accesses import Accesses
from sinks.archive import Archive
from sinks.audit import Audit
from sinks.carried_out import CarriedOut
from sinks.chronicle import Chronicle
from sinks.keys import Keys
from sinks.memories import Memories
from sinks.migrate import migrate, pending
from sinks.postgres import Pool, translated
from sinks.windows import Windows
from streams.tail import Tail

log = logging.getLogger(__name__)

USED_S = 10.0  # between notes of which keys were used
BURST_S = 6.0  # what a key may ask in so many seconds it may ask at once


async def serve(settings: Settings, stop: asyncio.Event, *, keyed: bool, on_ready: Callable[[str], object]) -> None:
    """Serves until `stop` is set or a signal comes; `on_ready` hears the address. Without keys on loopback only.

    Raises Misconfigured before anything starts, and Retryable when something it needs is not there.
    """
    if not keyed and not is_loopback(f"http://{bracketed(settings.api_host)}"):
        raise Misconfigured(
            f"MEMSTREAM_API_HOST={settings.api_host}: without keys the API listens on this machine alone: "
            "choose 127.0.0.1, or make keys with `memstream keys create`"
        )
    await require_migrated(settings)
    async with AsyncExitStack() as resources:
        listening = resources.enter_context(listener(settings.api_host, settings.api_port))
        ports = await resources.enter_async_context(wired(settings, keyed=keyed))
        app = create_app(ports, max_body_bytes=settings.api_max_body_bytes, local=not keyed)
        await run(app, listening, settings.api_stop_s, stop, on_ready, ports.bell.close)


async def require_migrated(settings: Settings) -> None:
    dsn = settings.postgres_dsn.get_secret_value()
    if settings.migrate_at_start:
        await migrate(dsn)
    elif missing := await pending(dsn):
        raise Misconfigured(f"PostgreSQL lacks {len(missing)} migrations: run `memstream migrate`")


@asynccontextmanager
async def wired(settings: Settings, *, keyed: bool) -> AsyncIterator[Ports]:
    """The ports, connected, and what is done beside the requests."""
    async with AsyncExitStack() as resources:
        pool = await resources.enter_async_context(connections.postgres(settings, max_size=16))
        publisher = await resources.enter_async_context(connections.kafka(settings))
        await indexing.refuse_by_topic(settings)
        embedder = await resources.enter_async_context(indexing.embedder(settings))
        vectors = await resources.enter_async_context(indexing.qdrant(settings, embedder))
        with suppress(Retryable):  # while Qdrant is down words are searched; one of another model must not be asked
            await vectors.verify()
        chores = Chores()
        policies = await governing.current_policies(settings, publisher, resources, chores)
        resources.push_async_callback(chores.stop)  # before what they use is closed
        terms = await governing.window_terms(settings, policies, pool, chores)
        accesses, keys = AccessCounter(Accesses(pool), now), Keys(pool)
        door = KeyedDoor(keys, now) if keyed else None

        async def note_use() -> None:
            if door is not None:
                await keys.used(door.used())

        for name, chore in (("reads", accesses.flush), ("use of keys", note_use)):
            resources.push_async_callback(at_last, name, chore)
        resources.push_async_callback(chores.stop)  # before what is left of them is done at last
        chores.add("reads", FLUSH_S, accesses.flush)
        chores.add("use of keys", USED_S, note_use)
        stored, bell = Memories(pool), Bell()
        memories = following(settings, stored, bell, chores)
        commands = Commands(publisher, CarriedOut(pool), wait_s=settings.api_wait_s, changed=memories.forget)
        resources.push_async_callback(commands.close)
        archive, count_tokens = Archive(pool), models.token_counter(settings)
        searched = retrieval(pool, embedder, vectors)
        per_s = settings.api_requests_per_minute / 60
        yield Ports(
            door=door or OpenDoor(),
            rates=Rates(per_s, max(1, round(per_s * BURST_S)), time.monotonic),
            memories=memories,
            stored=stored,
            retrieval=searched,
            accesses=accesses,
            chronicle=Chronicle(pool),
            bell=bell,
            commands=commands,
            vectors=vectors,
            audit=Audit(pool),
            policies=policies,
            recall=Recall(searched, archive, policies, count_tokens, now),
            conversations=Conversations(Windows(pool), archive, policies),
            contexts=Contexts(archive, terms, count_tokens, now),
            by_hand=ByHandSender(publisher, now, wait_s=settings.api_wait_s),
            clock=now,
            ready=lambda: answering(pool),
        )


def following(settings: Settings, stored: Memories, bell: Bell, chores: Chores) -> CachedMemories:
    """Memories kept in the process, and the bell rung, by memory events as they come."""

    def heard(records: Sequence[Any]) -> None:
        for namespace in {(record.key or b"").decode(errors="replace") for record in records}:
            memories.forget(namespace)
            bell.ring(namespace)

    def lapsed() -> None:
        memories.forget_all()
        bell.ring_all()

    tail = Tail(settings.cluster().client(), settings.topics().physical(topics.EVENTS), heard, lapsed)
    memories = CachedMemories(stored, time.time, lambda: tail.heard_to)
    chores.watch(asyncio.create_task(tail.run(), name="memory events"))
    return memories


async def at_last(name: str, chore: Chore) -> None:
    """What is lost in an outage is a count, or a time of day."""
    try:
        await chore()
    except Retryable as exc:
        log.warning("%s: %s", name, exc)


async def answering(pool: Pool) -> None:
    with translated("asking whether it answers"):
        await pool.execute("SELECT 1")


def now() -> datetime:
    return datetime.now(UTC)
