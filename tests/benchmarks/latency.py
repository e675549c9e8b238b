"""Measures the time from the end of a conversation to its extraction request under a constant load."""

import asyncio
import random
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from statistics import quantiles

from aiokafka import AIOKafkaConsumer, TopicPartition
from msgspec import Struct

from schemas.kafka import topics
from tests.benchmarks import chats
from tests.benchmarks.bench import Bench
from tests.benchmarks.measure import eventually, measured
from tests.benchmarks.signals import Job, Opened

PREFIX = "steady."
PAUSE_S = 0.02  # between the producer's turns
LAST_REQUEST_WITHIN_S = 30.0

Moments = dict[bytes | None, float]  # monotonic seconds, by conversation


class Latency(Struct):
    """Milliseconds from before an end was handed to the producer until a committed reader had its request."""

    milliseconds: list[float]

    def percentile(self, percent: int) -> float:
        return round(quantiles(self.milliseconds, n=100, method="inclusive")[percent - 1], 1)


async def latency(bench: Bench, per_s: int, seconds: float, seed: int) -> Latency:
    """At `per_s` records a second; each end says how many messages its conversation has, and which is the last.

    Raises TimeoutError when an end is not answered.
    """
    job = bench.job(PREFIX, "windows")
    await bench.create(job)
    requested: Moments = {}
    async with measured(sys.executable, "memstream_pipeline", job) as process, reader(job, requested):
        await process.next_signal(Opened)
        ended = await flow(bench, job, per_s, seconds, seed)

        async def all_answered() -> bool:
            return ended.keys() <= requested.keys()

        await eventually(all_answered, LAST_REQUEST_WITHIN_S)
    return Latency([1000 * (requested[conversation] - at) for conversation, at in ended.items()])


async def flow(bench: Bench, job: Job, per_s: int, seconds: float, seed: int) -> Moments:
    """Publishes evenly; returns when each end was handed to the producer."""
    records, sent, ended = chats.interleaved(random.Random(seed), with_ends=True), 0, Moments()
    begun = time.monotonic()
    async with bench.publisher(job) as publisher:
        while (now := time.monotonic()) < begun + seconds:
            due = list(islice(records, round((now - begun) * per_s) - sent))
            sent += len(due)
            ended |= {record.key: now for record in due if record.topic == topics.ENDED}
            await publisher.publish(due)
            await asyncio.sleep(PAUSE_S)
    return ended


@asynccontextmanager
async def reader(job: Job, requested: Moments) -> AsyncIterator[None]:
    """Notes when the first request of each conversation can be read."""
    consumer = AIOKafkaConsumer(bootstrap_servers=job.bootstrap_servers, isolation_level="read_committed")
    async with consumer:
        tps = [TopicPartition(job.prefix + topics.REQUESTS, number) for number in range(job.partitions)]
        consumer.assign(tps)
        await consumer.seek_to_beginning(*tps)
        reading = asyncio.create_task(note(consumer, requested))
        try:
            yield
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


async def note(consumer: AIOKafkaConsumer, requested: Moments) -> None:
    async for record in consumer:
        requested.setdefault(record.key, time.monotonic())
