"""Errors of the API are classified as transient, misconfigured or rejected."""

import pytest

from agents.models.claude.provider import ClaudeProvider
from schemas.errors import Misconfigured, Rejected, Retryable
from tests.builders.slices import knowing
from tests.servers.messages import MessagesServer
from tests.unit.models.claude.claude_asking import SLICE, provider_at


@pytest.mark.parametrize("fault", ["rate_limited", "server_error", "overloaded", "reset", "status:502"])
async def test_a_transient_fault_costs_one_more_call_and_no_proposal(server: MessagesServer, fault: str) -> None:
    provider = provider_at(server)
    server.script(fault)
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(answer.proposals) == 2
    assert len(server.seen) == 2


@pytest.mark.parametrize("fault", ["rate_limited", "server_error", "overloaded", "no_credit"])
async def test_lasting_outage_is_retryable(server: MessagesServer, fault: str) -> None:
    provider = provider_at(server, max_retries=1)
    server.script(fault, fault)
    with pytest.raises(Retryable, match="Claude answered"):
        await provider.extract(SLICE, knowing())
    await provider.close()


@pytest.mark.parametrize("fault", ["slow", "stalled"])
async def test_time_out_is_retryable(server: MessagesServer, fault: str) -> None:
    provider = provider_at(server, timeout_s=0.1, max_retries=0)
    server.script(fault)
    with pytest.raises(Retryable):
        await provider.extract(SLICE, knowing())
    await provider.close()


async def test_connection_that_is_reset_in_the_middle_of_each_answer_is_retryable(server: MessagesServer) -> None:
    provider = provider_at(server, max_retries=1)
    server.script("reset", "reset")
    with pytest.raises(Retryable, match="could not be reached"):
        await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    "fault",
    [
        "broken",
        "page",
        "json:",
        "json:null",
        "json:[]",
        'json:{"ok": true}',
        'json:{"type": "message", "content": "peanuts", "usage": {}}',
        'json:{"type": "message", "content": [], "model": "claude-test-1", "usage": {"input_tokens": null}}',
        'json:{"type": "message", "content": [{"type": "text"}], "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}',
    ],
)
async def test_answer_that_is_no_message_is_retryable_and_not_taken_for_an_empty_one(
    server: MessagesServer, fault: str
) -> None:
    provider = provider_at(server)
    server.script(fault)
    with pytest.raises(Retryable, match=r"not JSON|not a message"):
        await provider.extract(SLICE, knowing())
    await provider.close()


async def test_the_retry_after_wait_is_bounded() -> None:
    async with MessagesServer(retry_after="3600") as server:
        provider = provider_at(server, timeout_s=0.2, max_retries=1)
        server.script("rate_limited")
        with pytest.raises(Retryable, match=r"within 0\.4 s"):
            await provider.extract(SLICE, knowing())
        await provider.close()


async def test_unreachable_server_is_retryable(server: MessagesServer) -> None:
    provider = provider_at(server, max_retries=0)
    await server.stop()
    with pytest.raises(Retryable, match="could not be reached"):
        await provider.extract(SLICE, knowing())
    await provider.close()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("bad_request", "refused_request"),
        ("too_large", "too_large"),
        ("refusal", "refused"),
        ("context_exceeded", "too_large"),
    ],
)
async def test_slice_that_can_never_be_answered_is_rejected(server: MessagesServer, fault: str, reason: str) -> None:
    provider = provider_at(server)
    server.script(fault)
    with pytest.raises(Rejected) as caught:
        await provider.extract(SLICE, knowing())
    await provider.close()
    assert caught.value.reason == reason
    assert len(server.seen) == 1


@pytest.mark.parametrize("fault", ["unauthorized", "forbidden", "not_found", "no_structured_outputs"])
async def test_wrong_key_or_model_is_misconfigured(server: MessagesServer, fault: str) -> None:
    provider = provider_at(server)
    server.script(fault)
    with pytest.raises(Misconfigured):
        await provider.extract(SLICE, knowing())
    await provider.close()


async def test_unknown_model_is_named_in_the_error(server: MessagesServer) -> None:
    provider = provider_at(server, model="claude-of-tomorrow")
    with pytest.raises(Misconfigured, match="claude-of-tomorrow"):
        await provider.extract(SLICE, knowing())
    await provider.close()


async def test_key_appears_in_no_repr_and_no_error(server: MessagesServer) -> None:
    provider = provider_at(server, key="sk-ant-EXAMPLE-another-0000")
    with pytest.raises(Misconfigured) as caught:
        await provider.extract(SLICE, knowing())
    await provider.close()
    assert "EXAMPLE-another" not in repr(provider) + repr(caught.value) + repr(caught.value.__cause__)


async def test_provider_without_credentials_is_not_available(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    provider = ClaudeProvider("claude-test-1", base_url="http://127.0.0.1:9")
    assert "ANTHROPIC_API_KEY" in str(await provider.unavailable_reason())
    with pytest.raises(Misconfigured):
        await provider.extract(SLICE, knowing())
    await provider.close()
