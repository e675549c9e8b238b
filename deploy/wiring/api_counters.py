"""Wires what an API process counts and stores in batches: uses of keys, reads of memories, retrievals."""

import logging
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

from agents.api.access.authentication import KeyAuthentication
from agents.api.memories.access_counter import FLUSH_INTERVAL_S, AccessCounter
from agents.api.memories.retrieval_counter import RetrievalCounter
from agents.api.ports import Authentication
from deploy.metrics.api_meters import ApiMeters
from deploy.metrics.measured_services import MeasuredAccesses
from deploy.wiring.clock import now
from deploy.wiring.periodic import PeriodicTask, PeriodicTasks
from schemas.errors import Retryable
from sinks.access.keys import Keys
from sinks.memories.access_counts import Accesses
from sinks.memories.retrieval_counts import RetrievalCounts
from sinks.postgres.connection import Pool

log = logging.getLogger(__name__)

USED_S = 10.0  # interval of storing the use of keys


def key_authentication(pool: Pool, resources: AsyncExitStack, periodic_tasks: PeriodicTasks) -> Authentication:
    keys = Keys(pool)
    keyed = KeyAuthentication(keys, now, time.monotonic)

    async def store_use() -> None:
        await keys.record_use(keyed.take_last_used())

    add_with_last_run("use of keys", USED_S, store_use, resources, periodic_tasks)
    return keyed


def access_counter(
    pool: Pool, resources: AsyncExitStack, periodic_tasks: PeriodicTasks, meters: ApiMeters
) -> AccessCounter:
    accesses = MeasuredAccesses(Accesses(pool), now, meters)
    add_with_last_run("reads", FLUSH_INTERVAL_S, accesses.flush, resources, periodic_tasks)
    return accesses


def retrieval_counter(pool: Pool, resources: AsyncExitStack, periodic_tasks: PeriodicTasks) -> RetrievalCounter:
    counts = RetrievalCounter(RetrievalCounts(pool), now)
    add_with_last_run("questions", FLUSH_INTERVAL_S, counts.flush, resources, periodic_tasks)
    return counts


def read_meter(meters: ApiMeters, counts: RetrievalCounter) -> Callable[[bool, str], None]:
    """Counts a read by whether the cache answered it, for the process and the namespace."""

    def read(cached: bool, namespace: str) -> None:
        meters.read(cached)
        if namespace:
            counts.note("read", (namespace,), cached)

    return read


def add_with_last_run(
    name: str, interval_s: float, task: PeriodicTask, resources: AsyncExitStack, periodic_tasks: PeriodicTasks
) -> None:
    """Adds a background task that also runs once at shutdown. A crash loses only counts or times."""

    async def last_run() -> None:
        try:
            await task()
        except Retryable as exc:
            log.warning("%s: %s", name, exc)

    periodic_tasks.add(name, interval_s, task)
    resources.push_async_callback(last_run)
