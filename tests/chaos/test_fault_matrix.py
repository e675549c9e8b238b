"""Everything a model's API may do to a call, each to 200 conversations on a running pipeline: no slice is lost or doubled,
each is called for as often as it must be, and what is given up is kept with its reason and can be replayed."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deploy.embedded.stack import EmbeddedStack
from schemas import topics
from streams.apps import STAGES
from tests.chaos.faults import MATRIX, VARIANTS, Fault, Script, Talk, talks
from tests.deployment import Deployment, Event, deployed, eventually
from tests.messages_server import KEY, MODELS, MessagesServer
from tests.scripted_server import in_a_thread

EACH = 200
VARIANTS_EACH = 10
WITHIN_S = 1_200.0  # alone a tenth of that would do; on a machine that does seven other things it did not
ANSWERED = Fault("none", ())
# A process of its own, as the model's stage leaves the curator little time on one core.
THINKING = [stage for stage in STAGES if stage != "curation"]


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as started:
        yield started


@pytest.fixture
async def deployment(
    embedded_stack: EmbeddedStack, server: MessagesServer, tmp_path: Path
) -> AsyncIterator[Deployment]:
    """Without a worker."""
    async with deployed(embedded_stack, "faults", tmp_path, **asking(server)) as made:
        yield made
    assert KEY not in made.logs()


def asking(server: MessagesServer) -> dict[str, Any]:
    return {
        "provider": "claude",
        "claude_model": MODELS[0],
        "anthropic_base_url": server.url,
        "anthropic_api_key": SecretStr(KEY),
        "claude_timeout_s": 10.0,
        "claude_concurrency": 64,
        "extraction_concurrency": 64,
        "curation_concurrency": 16,
    }


def published(asked: list[Talk]) -> list[Event]:
    return [event for talk in asked for event in talk.events()]


def markers(asked: list[Talk]) -> Counter[str]:
    return Counter(talk.marker for talk in asked)


async def memories(deployment: Deployment) -> Counter[str]:
    """How often each slice's fact is remembered, by its marker: memories, and what reinforced them."""
    rows = await deployment.fetch("SELECT text, reinforcement_count FROM memories WHERE status = 'active'")
    found: Counter[str] = Counter()
    for row in rows:
        found[re.findall(r"Town\d+", row["text"])[0]] += 1 + row["reinforcement_count"]
    return found


async def batches(deployment: Deployment) -> Counter[str]:
    """Candidate batches, by conversation."""
    return Counter(batch["conversation_id"] for batch in await deployment.values(topics.CANDIDATES))


async def letters(deployment: Deployment) -> dict[str, tuple[str, str]]:
    """Reason and stage of every dead letter, by conversation. Fails if one has two."""
    found = {}
    for record in await deployment.records(topics.DEAD_LETTERS):
        told = {name: value.decode() for name, value in record.headers}
        conversation = record.key.decode()
        assert conversation not in found, f"{conversation} is dead-lettered twice"
        found[conversation] = (told["memstream-reason"], told["memstream-stage"])
    return found


async def failed(deployment: Deployment) -> dict[str, str]:
    """The reason that is kept with each slice that was given up, by conversation."""
    rows = await deployment.fetch("SELECT conversation_id, failed_reason FROM extractions WHERE failed_at IS NOT NULL")
    return {row["conversation_id"]: row["failed_reason"].partition(":")[0] for row in rows}


async def answered(deployment: Deployment) -> int:
    (row,) = await deployment.fetch("SELECT count(answer) AS answers FROM extractions")
    return int(row["answers"])


async def replay(deployment: Deployment) -> None:
    """Every dead letter to where it came from, as an operator would with any Kafka tool."""
    await deployment.publish(
        *(
            Event(topics.REQUESTS, record.key.decode(), record.value, record.headers)
            for record in await deployment.records(topics.DEAD_LETTERS)
        )
    )


@pytest.mark.heavy
async def test_no_fault_of_the_model_loses_or_doubles_a_slice(server: MessagesServer, deployment: Deployment):
    asked = talks(MATRIX, EACH)
    asked += talks(VARIANTS, VARIANTS_EACH, first=len(asked))
    lasting = {talk.conversation_id: talk.fault.reason for talk in asked if talk.fault.reason}
    passing = [talk for talk in asked if talk.fault.reason is None]
    server.choose = script = Script(asked)
    deployment.starting("thinking", stages=THINKING)
    await deployment.worker("curating", stages=["curation"])
    await deployment.publish(*published(asked))
    await deployment.settled(WITHIN_S)

    assert script.calls == Counter({talk.marker: talk.fault.calls for talk in asked})
    assert await memories(deployment) == markers(passing)
    assert await batches(deployment) == Counter(talk.conversation_id for talk in passing)
    assert await failed(deployment) == lasting
    assert await letters(deployment) == {name: (reason, "extraction") for name, reason in lasting.items()}

    server.choose = None
    await replay(deployment)
    await deployment.settled(WITHIN_S)
    assert await memories(deployment) == markers(asked)
    assert await failed(deployment) == {}
    assert len(server.seen) == sum(talk.fault.calls for talk in asked) + len(lasting)


@pytest.mark.heavy
async def test_an_outage_leaves_requests_waiting_in_kafka_until_the_model_answers_again(
    server: MessagesServer, deployment: Deployment
):
    asked = talks([ANSWERED], EACH)
    server.choose = lambda body: "overloaded"
    deployment.starting("thinking", stages=THINKING)
    await deployment.worker("curating", stages=["curation"])
    await deployment.publish(*published(asked))

    async def all_asked_for() -> bool:
        return len(await deployment.records(topics.REQUESTS)) == EACH and len(server.seen) >= 10

    await eventually(all_asked_for, "every slice is on its way and the model is overloaded", 120)
    assert (await deployment.lags())["extraction"] >= EACH, "not one of them is given up"
    assert await answered(deployment) == 0
    during = len(server.seen)

    server.choose = script = Script(asked)
    await deployment.settled(WITHIN_S)
    assert script.calls == markers(asked), "one call each once the model answers"
    assert await memories(deployment) == markers(asked)
    assert await batches(deployment) == Counter(talk.conversation_id for talk in asked)
    assert await letters(deployment) == await failed(deployment) == {}
    assert len(server.seen) >= during + EACH


@pytest.mark.heavy
async def test_a_key_that_is_not_accepted_stops_the_worker_and_loses_nothing(
    server: MessagesServer, deployment: Deployment
):
    asked = talks([ANSWERED], EACH)
    server.choose = lambda body: "unauthorized"
    worker = await deployment.worker("refused", stages=THINKING)
    await deployment.publish(*published(asked))

    async def ended() -> bool:
        return not worker.running

    await eventually(ended, "the worker stops, as no request can succeed", 120)
    assert worker.exit_code not in (None, 0)
    assert "check ANTHROPIC_API_KEY" in deployment.logs()
    assert await answered(deployment) == 0
    assert await letters(deployment) == await failed(deployment) == {}

    deployment.forget(worker)
    server.choose = script = Script(asked)
    deployment.starting("thinking", stages=THINKING)
    await deployment.worker("curating", stages=["curation"])
    await deployment.settled(WITHIN_S)
    assert script.calls == markers(asked)
    assert await memories(deployment) == markers(asked)
    assert await letters(deployment) == await failed(deployment) == {}
