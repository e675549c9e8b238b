"""Applies every fault of a model's API to many conversations of a running pipeline: no slice is lost or duplicated,
calls repeat only as needed, rejected requests keep their reason and can be replayed, and budgets hold."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deploy.embedded.stack import EmbeddedStack
from schemas.kafka import topics
from streams.kafka.topics import STAGES
from tests.budget_day import begin_tomorrow
from tests.chaos.faults import ANSWERED, BILLED, MATRIX, VARIANTS, Script, marker_in, talks
from tests.chaos.outcomes import answered, batches, dead_letters, failed, markers, memories, parked, published, replay
from tests.deployment import Deployment, deployed, eventually, without_shared_calls
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

# Conversations of each fault; few where each one meets all of them in turn. `make fault-matrix` has 200.
CHOSEN = os.environ.get("MEMSTREAM_FAULT_CONVERSATIONS")
EACH = int(CHOSEN or 20)
MATRIX_EACH, VARIANTS_EACH = int(CHOSEN or 8), 10 if CHOSEN else 4
WITHIN_S = 1_200.0  # alone a tenth of that would do; on a machine that does seven other things it did not
# Two questions' reservations, and little of what all conversations would be billed: nearly every call competes.
TOKENS_PER_DAY = 30_000
# A process of its own, as the model's stage leaves the curator little time on one core.
ALL_BUT_CURATION = [stage for stage in STAGES if stage != "curation"]
# Who is taken for dead on a busy machine loses its partitions, and what it had under way is asked again: here calls are counted.
PATIENT = {"session_timeout_s": 45.0}
LOOKS_AGAIN = {"agents.budgets.arithmetic.AGAIN_S": 1.0}  # whether those that went first have left room


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as started:
        yield started


@pytest.fixture
async def deployment(
    embedded_stack: EmbeddedStack, server: MessagesServer, tmp_path: Path
) -> AsyncIterator[Deployment]:
    """Without a worker."""
    alone = without_shared_calls(tmp_path)
    async with deployed(embedded_stack, "faults", tmp_path, policies_file=alone, **asking(server)) as made:
        yield made
    assert KEY not in made.logs()


def asking(server: MessagesServer) -> dict[str, Any]:
    return {
        "provider": "claude",
        "claude_model": MODELS[0],
        "anthropic_base_url": server.url,
        "anthropic_api_key": SecretStr(KEY),
        "claude_timeout_s": 10.0,
        "model_rest_s": 3.0,
        "extraction_concurrency": 64,
        "curation_concurrency": 16,
    }


@pytest.mark.heavy
async def test_model_faults_never_lose_or_duplicate_a_slice(server: MessagesServer, deployment: Deployment):
    conversations = talks(MATRIX, MATRIX_EACH)
    conversations += talks(VARIANTS, VARIANTS_EACH, first=len(conversations))
    lasting = {talk.conversation_id: talk.fault.reason for talk in conversations if talk.fault.reason}
    passing = [talk for talk in conversations if talk.fault.reason is None]
    server.choose = script = Script(conversations)
    deployment.start_worker("all-but-curation", stages=ALL_BUT_CURATION, **PATIENT)
    await deployment.worker("curating", stages=["curation"])
    await deployment.publish(*published(conversations))
    await deployment.settled(WITHIN_S)

    assert script.calls == Counter({talk.marker: talk.fault.calls for talk in conversations})
    assert await memories(deployment) == markers(passing)
    assert await batches(deployment) == Counter(talk.conversation_id for talk in passing)
    assert await failed(deployment) == lasting
    assert await dead_letters(deployment) == {name: (reason, "extraction") for name, reason in lasting.items()}

    server.choose = None
    await replay(deployment)
    await deployment.settled(WITHIN_S)
    assert await memories(deployment) == markers(conversations)
    assert await failed(deployment) == {}
    assert len(server.seen) == sum(talk.fault.calls for talk in conversations) + len(lasting)


@pytest.mark.heavy
async def test_requests_wait_in_kafka_during_a_model_outage(server: MessagesServer, deployment: Deployment):
    conversations = talks([ANSWERED], EACH)
    server.choose = lambda body: "overloaded"
    deployment.start_worker("all-but-curation", stages=ALL_BUT_CURATION, **PATIENT)
    await deployment.worker("curating", stages=["curation"])
    await deployment.publish(*published(conversations))

    async def all_asked_for() -> bool:
        return len(await deployment.records(topics.REQUESTS)) == EACH and len(server.seen) >= 10

    await eventually(all_asked_for, "every slice is on its way and the model is overloaded", 120)
    assert (await deployment.lags())["extraction"] >= EACH, "not one of them is given up"
    assert await answered(deployment) == []
    during = len(server.seen)

    server.choose = script = Script(conversations)
    await deployment.settled(WITHIN_S)
    assert script.calls == markers(conversations), "one call each once the model answers"
    assert await memories(deployment) == markers(conversations)
    assert await batches(deployment) == Counter(talk.conversation_id for talk in conversations)
    assert await dead_letters(deployment) == await failed(deployment) == {}
    assert len(server.seen) >= during + EACH


@pytest.mark.heavy
async def test_a_rejected_api_key_stops_the_worker_and_loses_no_request(server: MessagesServer, deployment: Deployment):
    conversations = talks([ANSWERED], EACH)
    server.choose = lambda body: "unauthorized"
    worker = await deployment.worker("refused", stages=ALL_BUT_CURATION)
    await deployment.publish(*published(conversations))

    async def ended() -> bool:
        return not worker.running

    await eventually(ended, "the worker stops, as no request can succeed", 120)
    assert worker.exit_code not in (None, 0)
    assert "check ANTHROPIC_API_KEY" in deployment.logs()
    assert await answered(deployment) == []
    assert await dead_letters(deployment) == await failed(deployment) == {}

    deployment.forget(worker)
    server.choose = script = Script(conversations)
    deployment.start_worker("all-but-curation", stages=ALL_BUT_CURATION)
    await deployment.worker("curating", stages=["curation"])
    await deployment.settled(WITHIN_S)
    assert script.calls == markers(conversations)
    assert await memories(deployment) == markers(conversations)
    assert await dead_letters(deployment) == await failed(deployment) == {}


@pytest.mark.heavy
async def test_concurrent_workers_exceed_a_token_budget_by_at_most_one_request_and_park_the_rest(
    server: MessagesServer, deployment: Deployment
):
    conversations = talks(BILLED, EACH)
    lasting = {talk.conversation_id: talk.fault.reason for talk in conversations if talk.fault.reason}
    server.choose = script = Script(conversations)
    limited = {"budget": {"tokens_per_day": TOKENS_PER_DAY}, "extraction_concurrency": 16}
    await begin_tomorrow(deployment.dsn)
    # Both have joined before anything is said: a question whose partition moves before it is given up is asked again.
    workers = [await deployment.worker(name, paces=LOOKS_AGAIN, **limited, **PATIENT) for name in ("one", "other")]
    await deployment.publish(*published(conversations))

    async def spent() -> bool:
        waiting = "SELECT FROM parked WHERE reason = 'budget' AND not_before = date_trunc('day', not_before, 'UTC')"
        done = len(await answered(deployment)) + len(await failed(deployment)) + len(await deployment.fetch(waiting))
        return done == len(conversations) and await deployment.count("energy_reservations") == 0

    await eventually(spent, "every slice has its answer, is given up or waits for tomorrow's budget", WITHIN_S)
    billed: Counter[str] = Counter()
    for bill in server.bills:
        billed[marker_in(bill.body)] += bill.tokens
    assert TOKENS_PER_DAY <= billed.total() <= TOKENS_PER_DAY + max(billed.values())
    (booked,) = await deployment.fetch(
        "SELECT sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint AS tokens, "
        "sum(calls)::int AS calls FROM model_usage"
    )
    assert (booked["tokens"], booked["calls"]) == (billed.total(), len(server.bills))
    waiting = await parked(deployment)
    fates = [*await answered(deployment), *await failed(deployment), *waiting]
    assert sorted(fates) == sorted(talk.conversation_id for talk in conversations)
    of_those_asked = [talk for talk in conversations if talk.conversation_id not in waiting]
    assert script.calls == Counter({talk.marker: talk.fault.calls for talk in of_those_asked})

    assert await asyncio.gather(*(worker.stop() for worker in workers)) == [0, 0]
    await deployment.worker("tomorrow", budget={}, **PATIENT)
    await deployment.fetch("UPDATE parked SET not_before = now()")  # midnight, once the worker has joined, see above
    await deployment.settled(WITHIN_S)
    assert script.calls == Counter({talk.marker: talk.fault.calls for talk in conversations})
    assert await memories(deployment) == markers([talk for talk in conversations if talk.fault.reason is None])
    assert await dead_letters(deployment) == {name: (reason, "extraction") for name, reason in lasting.items()}
    assert await parked(deployment) == []
