"""Runs the runbook's pages about outages."""

import asyncio
import re
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiokafka.admin import AIOKafkaAdminClient
from pydantic import SecretStr

from deploy.embedded.ports import free_port, free_ports
from schemas.kafka import topics
from tests.builders.proposals import command, curated
from tests.deployment import Deployment, Event, eventually, without_shared_calls
from tests.integration.runbook.conftest import MARA, Open, ended, message, said
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

pytestmark = pytest.mark.heavy

LOOKS = {"deploy.wiring.model_stages.ASK_S": 0.5}  # whether providers answer
CONSUMED = re.compile(r'^{"conversation_id": "([^"]*)"', re.MULTILINE)  # a record, as Kafka's consumer prints it


async def test_the_poison_event_page_works_as_documented(page: Open) -> None:
    tried = page("poison-event.md")
    deployment = tried.deployment
    assert not await deployment.records(topics.MESSAGES), "the page names offsets: this is the first test of its file"
    worker = await deployment.worker(stages=("windows", "archive"))
    await deployment.publish(Event(topics.MESSAGES, "kitchen-7", {"conversation_id": "kitchen-7", "role": "user"}))
    await eventually(lambda: deployment.records(topics.DEAD_LETTERS), "a letter is there")
    assert CONSUMED.findall(await tried.run()) == ["kitchen-7"]
    assert "replayed" in await tried.run()

    async def again() -> bool:
        dead_letters = await deployment.records(topics.DEAD_LETTERS)
        return sum(b"kitchen" in (record.value or b"") for record in dead_letters) > 1

    await eventually(again, "what was replayed as it was has failed again")
    assert "discarded" in await tried.run()
    assert await worker.stop() == 0
    cooking = (message("kitchen-7", number, "I cook.", "cook") for number in (1, 2))
    await deployment.publish(*cooking, ended("kitchen-7", 2))
    assert (await tried.run()).count("memstream-archive") == 2
    await deployment.worker("past", stages=("archive",))

    async def past() -> bool:
        return bool(await deployment.fetch("SELECT FROM messages WHERE message_id = 'kitchen-7-2'"))

    await eventually(past, "what lies behind the record is archived")
    assert not await deployment.fetch("SELECT FROM messages WHERE message_id = 'kitchen-7-1'"), "it was stepped over"
    assert "kitchen" not in await tried.run()
    tried.done()


async def test_the_page_for_unavailable_models_works_as_documented(page: Open, tmp_path: Path) -> None:
    tried, (models_port, metrics_port) = page("llm-down.md"), free_ports(2)
    deployment, url = tried.deployment, f"http://127.0.0.1:{models_port}"
    asks: dict[str, Any] = {
        **{"provider": "claude", "model_rest_s": 4.0},
        "claude_model": MODELS[0],
        "anthropic_base_url": url,
        "anthropic_api_key": SecretStr(KEY),
    }
    alone = without_shared_calls(tmp_path)  # a short slice would wait parked, out of the lag that the page shows
    as_variables = {f"MEMSTREAM_{name.upper()}": str(value) for name, value in asks.items()}
    tried.knows(METRICS=f"http://127.0.0.1:{metrics_port}", **as_variables | {"MEMSTREAM_ANTHROPIC_API_KEY": KEY})
    waiting = await deployment.worker(metrics_port=metrics_port, policies_file=alone, paces=LOOKS, **asks)
    await deployment.publish(*said("llm-1", "I live in Lisbon."), *said("llm-2", "I am allergic to peanuts."))

    async def unavailable() -> bool:
        return provider_available(metrics_port) == 0.0

    await eventually(unavailable, "the worker knows that nobody answers")
    assert 'memstream_provider_available{provider="claude"} 0.0' in await tried.run()
    assert "ok   provider" in await tried.run()
    assert await waiting.stop() == 0
    rules = await deployment.worker(
        "rules", policies_file=alone, **asks | {"provider": "auto", "provider_order": "claude,offline"}
    )
    await deployment.settled()
    assert shown_lags(await tried.run()) == {"0"}
    assert await deployment.count("memories WHERE namespace = 'notes/mara'") == 2
    assert await rules.stop() == 0
    await deployment.worker("patient", metrics_port=metrics_port, policies_file=alone, paces=LOOKS, **asks)
    await deployment.publish(*said("llm-3", "I own 3 boats."))
    await eventually(unavailable, "it waits again")
    with in_a_thread(MessagesServer(models_port)):
        await deployment.settled()

        async def available() -> bool:
            return provider_available(metrics_port) == 1.0

        await eventually(available, "the worker knows that somebody answers")
        tried.knows(MEMSTREAM_PROVIDER="claude")
        assert "extract" in await tried.run()
    tried.done()


def shown_lags(described: str) -> set[str]:
    """The sixth column of what kafka-consumer-groups.sh describes, for each partition."""
    return {line.split()[5] for line in described.splitlines() if line.startswith("memstream-extraction ")}


def provider_available(port: int) -> float | None:
    metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text.splitlines()
    return next((float(line.split()[1]) for line in metrics if line.startswith("memstream_provider_available")), None)


async def test_the_rebalance_storm_page_works_as_documented(page: Open) -> None:
    tried, metrics_port = page("rebalance-storm.md"), free_port()
    deployment = tried.deployment
    tried.knows(METRICS=f"http://127.0.0.1:{metrics_port}")
    await deployment.worker("one", stages=("windows",), metrics_port=metrics_port)
    silent = await deployment.worker("two", stages=("windows",))

    async def members(count: int) -> bool:
        return await member_count(deployment) == count

    await eventually(lambda: members(2), "both are members")
    clock = asyncio.get_running_loop().time
    silent.send(signal.SIGSTOP)
    since = clock()
    await eventually(lambda: members(1), "the silent one is thrown out")
    too_long = clock() - since
    assert "memstream_delivery_epochs_total" in await tried.run()
    silent.send(signal.SIGCONT)
    await silent.stop()
    patient = await deployment.worker("three", stages=("windows",), session_timeout_s=30.0, heartbeat_interval_s=10.0)
    await eventually(lambda: members(2), "one with a longer session is a member")
    patient.send(signal.SIGSTOP)
    since = clock()

    async def silent_for_as_long() -> bool:
        return clock() - since > too_long

    await eventually(silent_for_as_long, "it was silent for as long")
    assert await members(2), "and is a member all the same"
    patient.send(signal.SIGCONT)
    assert "Stable" in await tried.run()
    tried.done()


async def member_count(deployment: Deployment) -> int:
    admin = AIOKafkaAdminClient(**deployment.settings.cluster().client())
    await admin.start()
    try:
        (described,) = await admin.describe_consumer_groups([deployment.group("windows")])
        _, _, state, _, _, found, *_ = described.groups[0]
        return len(found) if state == "Stable" else 0
    finally:
        await admin.close()


async def test_the_page_for_growing_lag_works_as_documented(page: Open) -> None:
    tried = page("lag-grows.md")
    deployment = tried.deployment
    await deployment.worker("windows", stages=("windows", "archive", "passages"))
    extraction = await deployment.worker("extraction", stages=("extraction", "curation"))
    assert await extraction.stop() == 0
    await deployment.publish(*(event for n in range(20) for event in said(f"lag-{n}", f"I own {n + 2} boats.")))

    async def requests_wait() -> bool:
        return (await deployment.lags())["extraction"] >= 20

    await eventually(requests_wait, "20 requests wait")
    assert "'memstream-extraction' has no active members" in await tried.run()
    await deployment.worker("more", stages=("extraction", "curation"))
    await deployment.settled()
    assert shown_lags(await tried.run()) == {"0"}
    assert "Completed" in await tried.run()
    tried.done()


async def test_the_page_for_a_lost_qdrant_works_as_documented(page: Open) -> None:
    tried = page("qdrant-lost.md")
    deployment = tried.deployment
    await deployment.worker()
    texts = ("User is allergic to peanuts.", "User lives in Lisbon.")
    await deployment.publish(*(command("create", MARA, text=text) for text in texts))
    await curated(deployment)
    async with deployment.qdrant() as client:
        await client.delete_collection("memories")
        await client.delete_collection("memories-passages")
    await deployment.publish(command("create", MARA, text="User works as a carpenter."))

    async def waits() -> bool:
        return await deployment.count("outbox") > 0

    await eventually(waits, "the command's changes wait in the outbox")
    assert "FAIL qdrant" in await tried.run()
    found = await tried.run()
    assert "peanuts" in found
    assert "points written" in await tried.run()
    await curated(deployment)
    assert "FAIL qdrant" not in await tried.run()
    points: Any = await deployment.points()
    assert len(points) == await deployment.count("memories WHERE status <> 'deleted'")
    tried.done()
