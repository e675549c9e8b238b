"""Credentials and personal data are removed from model requests, stored data and published events."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from agents.windows.request_headers import REQUEST_ID
from schemas import codec
from schemas.kafka import topics
from schemas.policies.policies import Policy, Privacy
from tests.builders.chat_events import talk
from tests.deployment import Event, eventually
from tests.servers.embeddings import MODEL, EmbeddingServer
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

PASSWORD, ADDRESS, PLACE = "EXAMPLE-pw1", "anna@example.org", "Turin"
TOLD = f"I live in {PLACE}. Write to me at {ADDRESS}, the password is {PASSWORD}."
# A model that has seen everything elsewhere, and tells it.
INDISCREET = {
    "kind": "fact",
    "text": f"User lives in {PLACE} and is reached at {ADDRESS}, the password is {PASSWORD}.",
    "messages": [1],
    "confidence": 0.9,
    "importance": 0.5,
    "kinds": [],
    "tags": ["home", ADDRESS],
    "context": TOLD,
    "full_text": TOLD,
    "event_time": None,
    "language": "en",
    "repeats": None,
    "refines": None,
    "contradicts": None,
}


@pytest.fixture
def model() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as server:
        yield server


@pytest.fixture
def embedding() -> Iterator[EmbeddingServer]:
    with in_a_thread(EmbeddingServer()) as server:
        yield server


async def test_scrubbed_data_reaches_no_model_no_memory_table_and_no_event(
    deploy: Any, tmp_path: Path, model: MessagesServer, embedding: EmbeddingServer
) -> None:
    policies = tmp_path / "policies.json"
    private = Policy(name="private", share_wait_s=0.0, privacy=Privacy(scrub=("email",), before_sending=True))
    policies.write_bytes(codec.encode((private,)))
    deployment = await deploy(
        "privacy",
        provider="claude",
        claude_model=MODELS[0],
        anthropic_base_url=model.url,
        anthropic_api_key=SecretStr(KEY),
        embedder="openai",
        embedder_model=MODEL,
        embedder_base_url=embedding.openai_url,
        policies_file=policies,
    )
    model.script("text:" + json.dumps({"memories": [INDISCREET]}))
    await deployment.worker()
    await deployment.publish(*talk("anna", TOLD, app_id="clinic", user_id="anna"))
    await deployment.settled()
    (memory,) = await deployment.fetch("SELECT * FROM memories")
    assert memory["text"] == f"User lives in {PLACE} and is reached at [EMAIL], the password is [PASSWORD]."
    assert memory["tags"] == ["home"]

    corrected = {
        "command_id": uuid4().hex,
        "kind": "update",
        "namespace": memory["namespace"],
        "memory_id": memory["memory_id"],
        "at": "2026-11-01T11:00:00Z",
        "text": f"User lives in {PLACE}; the password is {PASSWORD}.",
    }
    await deployment.publish(Event(topics.COMMANDS, memory["namespace"], corrected))
    await deployment.settled()
    (memory,) = await deployment.fetch("SELECT * FROM memories")
    assert memory["text"] == f"User lives in {PLACE}; the password is [PASSWORD]."

    for table in ("memories", "memory_versions", "extractions", "commands"):
        rows = str(await deployment.fetch(f"SELECT * FROM {table}"))
        assert rows != "[]" and PASSWORD not in rows and ADDRESS not in rows, table
    for topic in (topics.CANDIDATES, topics.EVENTS, topics.STATE, topics.ACTIVITY):
        values = str(await deployment.values(topic))
        assert values != "[]" and PASSWORD not in values and ADDRESS not in values, topic
    for sent in (str(model.seen), str(embedding.seen), str(await deployment.points())):
        assert PLACE in sent and PASSWORD not in sent and ADDRESS not in sent
    assert PASSWORD not in deployment.logs() and ADDRESS not in deployment.logs()

    headers = ((REQUEST_ID, b"request-of-anna"),)
    await deployment.publish(Event(topics.REQUESTS, "anna", b'{"request_id": "request-of-', headers))
    await deployment.settled()

    async def failed() -> list[Any]:
        controls = await deployment.values(topics.WINDOW_CONTROL)
        return [each for each in controls if each["kind"] == "extraction_failed"]

    (control,) = await eventually(failed, "the window is told of a request that does not decode")
    assert (control["conversation_id"], control["request_id"], control["reason"]) == (
        "anna",
        "request-of-anna",
        "undecodable",
    )
