"""Reads the outcomes of slices with faults from Kafka and PostgreSQL."""

import re
from collections import Counter

from schemas.kafka import topics
from tests.chaos.faults import Talk
from tests.deployment import Deployment, Event


def published(conversations: list[Talk]) -> list[Event]:
    return [event for talk in conversations for event in talk.events()]


def markers(conversations: list[Talk]) -> Counter[str]:
    return Counter(talk.marker for talk in conversations)


async def memories(deployment: Deployment) -> Counter[str]:
    """Counts the memories and reinforcements of each slice's fact, by marker."""
    rows = await deployment.fetch("SELECT text, reinforcement_count FROM memories WHERE status = 'active'")
    found: Counter[str] = Counter()
    for row in rows:
        found[re.findall(r"Town\d+", row["text"])[0]] += 1 + row["reinforcement_count"]
    return found


async def batches(deployment: Deployment) -> Counter[str]:
    """Candidate batches, by conversation."""
    return Counter(batch["conversation_id"] for batch in await deployment.values(topics.CANDIDATES))


async def dead_letters(deployment: Deployment) -> dict[str, tuple[str, str]]:
    """Reason and stage of every dead letter, by conversation. Fails if one has two."""
    found = {}
    for record in await deployment.records(topics.DEAD_LETTERS):
        headers = {name: value.decode() for name, value in record.headers}
        conversation = record.key.decode()
        assert conversation not in found, f"{conversation} is dead-lettered twice"
        found[conversation] = (headers["memstream-reason"], headers["memstream-stage"])
    return found


async def failed(deployment: Deployment) -> dict[str, str]:
    """The stored failure reasons of slices, by conversation."""
    rows = await deployment.fetch("SELECT conversation_id, failed_reason FROM extractions WHERE failed_at IS NOT NULL")
    return {row["conversation_id"]: row["failed_reason"].partition(":")[0] for row in rows}


async def answered(deployment: Deployment) -> list[str]:
    """The conversations of slices with an answer, one entry per slice."""
    rows = await deployment.fetch("SELECT conversation_id FROM extractions WHERE answer IS NOT NULL")
    return [row["conversation_id"] for row in rows]


async def replay(deployment: Deployment) -> None:
    """Publishes every dead letter to its source topic, as an operator can with any Kafka tool."""
    await deployment.publish(
        *(
            Event(topics.REQUESTS, record.key.decode(), record.value, record.headers)
            for record in await deployment.records(topics.DEAD_LETTERS)
        )
    )


async def parked(deployment: Deployment) -> list[str]:
    """The conversations of parked requests, one entry per request."""
    return [row["conversation_id"] for row in await deployment.fetch("SELECT conversation_id FROM parked")]
