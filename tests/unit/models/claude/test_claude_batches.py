"""Message Batches through the real SDK, against a local Messages server with the API's faults."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic
import httpx2
import pytest
from msgspec.structs import replace

from agents.models.batches import BatchNotFound, ListedBatch, NoReply, SubmissionUnknown
from agents.models.calls.exchange import ModelReply
from agents.models.claude.batches import ClaudeBatches
from agents.models.claude.provider import ClaudeProvider
from agents.models.prompts.questions import Question
from schemas.errors import Misconfigured, Rejected, Retryable
from tests.builders.slices import knowing, slice_of
from tests.servers.messages import KEY, MODELS, MessagesServer

SLICE = slice_of("I am allergic to peanuts.")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
async def client(server: MessagesServer) -> AsyncIterator[anthropic.AsyncAnthropic]:
    """It repeats what fails, as the SDK does unless told otherwise."""
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=2) as client:
        yield client


@pytest.fixture
def batches(client: anthropic.AsyncAnthropic) -> ClaudeBatches:
    return ClaudeProvider(MODELS[0], client=client).batches()


def questions(batches: ClaudeBatches, *names: str) -> Mapping[str, Question[Any]]:
    return {name: batches.question(SLICE, knowing()) for name in names}


async def test_a_batch_request_has_the_same_body_as_a_single_call(
    batches: ClaudeBatches, server: MessagesServer
) -> None:
    await batches.submit(questions(batches, "a"))
    alone = ClaudeProvider(MODELS[0], api_key=KEY, base_url=server.url)
    await alone.extract(SLICE, knowing())
    await alone.close()
    (batch,) = server.batches.made.values()
    assert batch.requests["a"] == server.seen[0] | {"max_tokens": 8_192}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("server_error", SubmissionUnknown),
        ("overloaded", SubmissionUnknown),
        ("rate_limited", Retryable),
        ("no_credit", Retryable),
        ("bad_request", Rejected),
        ("too_large", Rejected),
        ("unauthorized", Misconfigured),
    ],
)
async def test_a_failed_batch_submission_is_not_retried(
    batches: ClaudeBatches, server: MessagesServer, fault: str, error: type[Exception]
) -> None:
    server.batches.faults.append(fault)
    with pytest.raises(error) as raised:
        await batches.submit(questions(batches, "a"))
    assert isinstance(raised.value, SubmissionUnknown) == (error is SubmissionUnknown), (
        "only what may have been taken has to be looked for"
    )
    assert server.batches.made == {}


async def test_submitting_a_batch_to_an_unreachable_server_raises_submission_unknown(server: MessagesServer) -> None:
    await server.stop()
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0) as client:
        batches = ClaudeProvider(MODELS[0], client=client).batches()
        with pytest.raises(SubmissionUnknown):
            await batches.submit(questions(batches, "a"))
        with pytest.raises(Retryable):
            await batches.ended("msgbatch_0001")
        with pytest.raises(Retryable):
            await batches.since(LONG_AGO)


async def test_without_credentials_nothing_is_sent(server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    async with anthropic.AsyncAnthropic(base_url=server.url) as client:
        batches = ClaudeProvider(MODELS[0], client=client).batches()
        with pytest.raises(Misconfigured, match="ANTHROPIC_API_KEY"):
            await batches.submit(questions(batches, "a"))


async def test_each_batch_result_becomes_a_model_reply_a_rejection_or_no_reply(
    batches: ClaudeBatches, server: MessagesServer
) -> None:
    steps = ("rules", "refusal", "bad_request", "no_credit", "overloaded", "expired", "canceled")
    server.batches.script(*steps)
    provider_id = await batches.submit(questions(batches, *steps))
    assert await batches.ended(provider_id)
    replies = {name: reply async for name, reply in batches.replies(provider_id)}
    assert list(replies) == list(reversed(steps)), "in any order"
    assert isinstance(replies["rules"], ModelReply) and replies["rules"].usage.batched
    rejected = {name: reply.reason for name, reply in replies.items() if isinstance(reply, Rejected)}
    assert rejected == {"refusal": "refused", "bad_request": "refused_request"}
    unanswered = {name for name, reply in replies.items() if isinstance(reply, NoReply)}
    assert unanswered == {"no_credit", "overloaded", "expired", "canceled"}


@pytest.mark.parametrize("body", ["<html>Maintenance</html>", "null", "[]", "{", '{"data": [null]}', '{"data": 3}'])
@pytest.mark.parametrize("status", [200, 400])
async def test_an_invalid_response_about_a_batch_is_retryable_and_discards_no_request(status: int, body: str) -> None:
    kind = "text/html" if body.startswith("<") else "application/json"
    odd = httpx2.MockTransport(lambda _: httpx2.Response(status, text=body, headers={"content-type": kind}))
    async with anthropic.AsyncAnthropic(
        api_key=KEY, max_retries=0, http_client=httpx2.AsyncClient(transport=odd)
    ) as client:
        batches = ClaudeProvider(MODELS[0], client=client).batches()
        with pytest.raises(Retryable):
            await batches.since(LONG_AGO)
        if status == 200 and "data" in body:
            assert not await batches.ended("msgbatch_1")
            return
        with pytest.raises(Retryable):
            await batches.ended("msgbatch_1")
        with pytest.raises(Retryable):
            _ = [each async for each in batches.replies("msgbatch_1")]


async def test_an_unknown_batch_id_raises_batch_not_found(batches: ClaudeBatches) -> None:
    with pytest.raises(BatchNotFound):
        await batches.ended("msgbatch_none")
    with pytest.raises(BatchNotFound):
        _ = [each async for each in batches.replies("msgbatch_none")]


async def test_batches_created_since_a_given_time_are_listed(batches: ClaudeBatches, server: MessagesServer) -> None:
    server.batches.ends_at_poll = None
    ids = [await batches.submit(questions(batches, *names)) for names in ("a", "bc", "def")]
    server.batches.end(ids[2])
    server.batches.made[ids[0]].created_at -= timedelta(hours=1)
    assert await batches.since(datetime.now(UTC) - timedelta(minutes=30)) == [
        ListedBatch(provider_id=ids[2], requests=3, ended=True),
        ListedBatch(provider_id=ids[1], requests=2, ended=False),
    ]


async def test_every_page_of_the_list_is_read(batches: ClaudeBatches, server: MessagesServer) -> None:
    for number in range(230):
        server.batches.submitted([{"custom_id": f"{number}", "params": {}}])
    assert len(await batches.since(LONG_AGO)) == 230


@pytest.mark.parametrize(
    ("changed", "fits"),
    [
        ({}, True),
        ({"request_id": "36a6eb8c-080a-599d-a783-98024147f689"}, True),
        ({"request_id": "by hand!"}, False),
        ({"request_id": "a" * 65}, False),
        ({"purpose": "summarise"}, False),
    ],
    ids=str,
)
def test_summaries_and_requests_with_ids_invalid_for_the_api_are_not_batched(
    batches: ClaudeBatches, changed: dict[str, Any], fits: bool
) -> None:
    assert batches.fits(replace(SLICE, **changed)) is fits


@pytest.mark.parametrize(
    "result",
    [
        {"type": None},
        {"type": "succeeded", "message": "odd"},
        {"type": "postponed"},
        {"type": "errored"},
        {"type": "errored", "error": {"error": 5}},
    ],
)
async def test_an_unknown_batch_result_becomes_no_reply(
    batches: ClaudeBatches, server: MessagesServer, result: Any
) -> None:
    provider_id = await batches.submit(questions(batches, "a", "b"))
    assert await batches.ended(provider_id)
    server.batches.made[provider_id].results["a"] = result
    replies = {name: reply async for name, reply in batches.replies(provider_id)}
    assert isinstance(replies["a"], NoReply)
    assert isinstance(replies["b"], ModelReply)


async def test_a_batch_message_without_usage_becomes_no_reply(batches: ClaudeBatches, server: MessagesServer) -> None:
    provider_id = await batches.submit(questions(batches, "a"))
    assert await batches.ended(provider_id)
    del server.batches.made[provider_id].results["a"]["message"]["usage"]
    ((_, reply),) = [each async for each in batches.replies(provider_id)]
    assert isinstance(reply, NoReply)
