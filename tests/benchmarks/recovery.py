"""Measures how long a worker takes to recover its rows, from an empty directory and from its own store."""

import random
import sys
from collections.abc import Iterable, Iterator
from itertools import count, islice

from aiokafka import AIOKafkaProducer
from aiokafka.partitioner import DefaultPartitioner
from msgspec import Struct

from schemas import codec
from schemas.conversations.messages import Message, Scope
from streams.windows.rows import rows
from streams.windows.window import Window
from tests.benchmarks import chats
from tests.benchmarks.bench import PARTITIONS, Bench
from tests.benchmarks.measure import measured
from tests.benchmarks.memstream_pipeline import topics_of
from tests.benchmarks.signals import Job, Opened
from tests.benchmarks.windows_by_event import window_terms

PREFIX = "recovery."
LENGTHS = (1, 15)  # messages that came one at a time: a row each, until eight are folded into one
TOKENS = 50  # of each: nothing is counted here


class Row(Struct, frozen=True):
    partition: int
    key: bytes
    value: bytes


class Recovery(Struct):
    """Seconds from the assignment to the first epoch, and what was recovered."""

    rows: int
    megabytes: float
    cold_s: float
    warm_s: float


async def recovery(bench: Bench, wanted: int, seed: int) -> Recovery:
    """Raises RuntimeError when a worker comes up with another number of rows than its changelog has."""
    job = bench.job(PREFIX, "windows")
    await bench.create(job)
    live = list(islice(live_rows(random.Random(seed)), wanted))
    await fill(job, live)
    cold_s, warm_s = [await opening_s(job, wanted) for _ in range(2)]
    megabytes = sum(len(row.key) + len(row.value) for row in live) / 1e6
    sys.stderr.write(
        f"{wanted} rows of {megabytes:.0f} MB recovered in {cold_s:g} s, at the next start in {warm_s:g} s\n"
    )
    return Recovery(wanted, round(megabytes, 1), cold_s, warm_s)


async def opening_s(job: Job, wanted: int) -> float:
    async with measured(sys.executable, "memstream_pipeline", job) as process:
        opened = await process.next_signal(Opened)
    if opened.rows != wanted:
        raise RuntimeError(f"{opened.rows} of {wanted} rows were recovered")
    return opened.seconds


async def fill(job: Job, live: Iterable[Row]) -> None:
    """Writes the changelog as it stands after compaction."""
    changelog = topics_of(job).changelog
    producer = AIOKafkaProducer(bootstrap_servers=job.bootstrap_servers, linger_ms=20, max_batch_size=262_144)
    async with producer:
        for row in live:
            await producer.send(changelog, row.value, row.key, partition=row.partition)
        await producer.flush()


TERMS = window_terms().of(Scope(conversation_id="any"), None)


def live_rows(rng: random.Random) -> Iterator[Row]:
    """Windows of conversations that are going on, one after the other, without end."""
    positions, everywhere, partition_of = count(), list(range(PARTITIONS)), DefaultPartitioner()
    while True:
        chat = chats.opened(rng, rng.randint(*LENGTHS))
        partition = partition_of(chat.conversation_id.encode(), everywhere, everywhere)
        for key, value in window_rows(chat, partition, positions, rng).items():
            if value is not None:
                yield Row(partition, key, value)


def window_rows(chat: chats.Chat, partition: int, positions: Iterator[int], rng: random.Random) -> rows.Rows:
    """Every row that the window had so far; None where it was deleted."""
    window, written = Window.opened(chat.conversation_id, partition), rows.Rows()
    while not chat.over:
        message = codec.decode(chats.message(chat, chats.BEGAN, rng).value, Message)
        window.add(message, next(positions), TOKENS, lambda _: TERMS, chats.BEGAN.timestamp())
        written |= rows.save(window)
    return written
