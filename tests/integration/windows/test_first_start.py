"""A first start that skips old messages skips, counts and reports only those before the installation."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaProducer

from deploy.cli.doctor import skipped_records
from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from deploy.wiring import connections
from deploy.wiring.start_offsets import start_offsets
from schemas.kafka import topics
from sinks.postgres.connection import Pool
from tests.preparation import prepared

LONG_AGO_MS = 1_500_000_000_000


@pytest.fixture
async def settings(embedded_stack: EmbeddedStack, tmp_path: Path) -> Settings:
    return await prepared(embedded_stack, f"first-{uuid4().hex[:8]}", tmp_path, start_from="now")


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Pool]:
    async with connections.postgres(settings, max_size=2) as pool:
        yield pool


async def publish(settings: Settings, partition: int, count: int, timestamp_ms: int | None = None) -> str:
    topic = settings.topics().physical(topics.MESSAGES)
    producer = AIOKafkaProducer(**settings.cluster().client())
    await producer.start()
    try:
        for _ in range(count):
            await producer.send_and_wait(topic, b"{}", key=b"c", partition=partition, timestamp_ms=timestamp_ms)
    finally:
        await producer.stop()
    return topic


async def test_a_topic_with_nothing_older_than_the_installation_is_read_from_its_beginning(settings, database, caplog):
    caplog.set_level(logging.WARNING)
    topic = await publish(settings, 0, 3)
    origins = await start_offsets("archive", settings, database)
    assert origins[topic, 0] == origins[topic, 1] == 0
    assert "skip" not in caplog.text
    assert await skipped_records(settings) == "no records were skipped"


async def test_a_first_start_counts_logs_and_reports_skipped_older_records_with_the_remedy(settings, database, caplog):
    caplog.set_level(logging.WARNING)
    topic = await publish(settings, 0, 3, LONG_AGO_MS)
    await publish(settings, 1, 2)
    origins = await start_offsets("archive", settings, database)
    assert (origins[topic, 0], origins[topic, 1]) == (3, 2), "of a topic all partitions begin alike"
    group = settings.topics().group("archive")
    assert f"{group} skips about 5 records written to {topic} before its first start" in caplog.text
    skipped = await skipped_records(settings)
    assert "5 records" in skipped and f"--group {group} --topic {topic} --reset-offsets --to-earliest" in skipped
    assert "Token windows ignore messages older than what they have seen" in skipped and "`memstream replay`" in skipped
    assert await start_offsets("archive", settings, database) == origins
    assert await skipped_records(settings) == skipped


async def test_start_from_earliest_skips_nothing(settings, database):
    topic = await publish(settings, 0, 3, LONG_AGO_MS)
    origins = await start_offsets("archive", settings.model_copy(update={"start_from": "earliest"}), database)
    assert origins[topic, 0] == 0
    assert "no records" in await skipped_records(settings)
