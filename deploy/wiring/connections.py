"""Connections to PostgreSQL and Kafka from the settings, for workers, commands and the demo."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents.dead_letters.dead_letter_queue import DeadLetterQueue
from deploy.settings import Settings
from deploy.wiring.clock import now
from schemas.kafka import topics
from schemas.kafka.records import Publisher
from sinks.postgres.connection import Pool, connect
from streams.kafka.log import Log
from streams.kafka.policy_topic import PolicyTopic
from streams.kafka.publisher import KafkaPublisher

COMMAND_S = 30.0  # timeout of a slow statement


@asynccontextmanager
async def postgres(
    settings: Settings, max_size: int = 10, command_timeout_s: float = COMMAND_S, *, min_size: int = 1
) -> AsyncIterator[Pool]:
    """A connection pool with `min_size` open connections. Raises Retryable when PostgreSQL is away."""
    dsn = settings.postgres_dsn.get_secret_value()
    pool = await connect(dsn, min_size=min_size, max_size=max_size, command_timeout_s=command_timeout_s)
    try:
        yield pool
    finally:
        await pool.close()


def kafka(settings: Settings) -> KafkaPublisher:
    names = settings.topics()
    return KafkaPublisher(settings.cluster().client(), names.physical, names.own_message_bytes)


def policy_topic(settings: Settings) -> PolicyTopic:
    """The reader of the policy topic; start it with `async with`."""
    return PolicyTopic(settings.cluster().client(), settings.topics().physical(topics.POLICIES))


def topic_log(settings: Settings) -> Log:
    return Log(settings.cluster().client(), settings.topics().own_message_bytes)


def dead_letter_queue(settings: Settings, publisher: Publisher) -> DeadLetterQueue:
    return DeadLetterQueue(topic_log(settings), publisher, settings.topic_prefix, now)
