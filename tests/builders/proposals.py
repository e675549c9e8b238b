"""Builders of candidate batches and commands, and a wait for the curation stage."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from schemas.kafka import topics
from tests.deployment import Deployment, Event, eventually


def command(kind: str, namespace: str, **fields: Any) -> Event:
    """A command of now: commands from before an erasure are rejected."""
    said = {"command_id": uuid4().hex, "kind": kind, "namespace": namespace, "at": datetime.now(UTC).isoformat()}
    return Event(topics.COMMANDS, namespace, said | fields)


def candidates(namespace: str, *texts: str, **fields: Any) -> Event:
    """A request of one part with a candidate per text, each from its own message; `fields` are those of the candidates."""
    at = datetime.now(UTC).isoformat()
    source = {"conversation_id": "c", "message_id": uuid4().hex, "timestamp": at}
    common = {"kind": "fact", "confidence": 0.9, "sources": [source]} | fields
    batch = {
        **{"request_id": uuid4().hex, "conversation_id": "c", "partition": 0, "namespace": namespace},
        **{"part": 1, "parts": 1, "policy": "default", "policy_version": 1, "provider": "offline"},
        "candidates": [common | {"candidate_id": uuid4().hex, "text": text} for text in texts],
        "extracted_at": at,
    }
    return Event(topics.CANDIDATES, namespace, batch)


async def curated(deployment: Deployment, within_s: float = 60.0) -> None:
    """Waits until everything is decided and projected to Qdrant and Kafka."""

    async def done() -> bool:
        return not (await deployment.lags())["curation"] and not await deployment.count("outbox")

    await eventually(done, "everything is decided and told", within_s)
