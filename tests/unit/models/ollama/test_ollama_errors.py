"""Errors of an Ollama server are classified as transient, misconfigured or rejected."""

import pytest

from agents.models.ollama.provider import OllamaProvider
from schemas.errors import Misconfigured, Rejected, Retryable
from tests.builders.slices import knowing
from tests.servers.ollama import EMBEDDER, MODEL, OllamaServer
from tests.unit.models.ollama.asking import NOBODY, SLICE, raised_at


@pytest.mark.parametrize("fault", ["too_many", "cancelled", "server_error", "no_memory", "cloud_away", "busy"])
async def test_a_transient_fault_is_retryable_with_the_servers_message(server: OllamaServer, fault: str) -> None:
    server.script(fault)
    error = await raised_at(server.url)
    assert isinstance(error, Retryable) and "Ollama answered" in str(error)
    assert len(server.seen) == 1


async def test_a_timeout_is_retryable_and_the_error_contains_its_length(server: OllamaServer) -> None:
    server.script("slow")
    error = await raised_at(server.url, timeout_s=0.1)
    assert isinstance(error, Retryable) and "within 0.1 s" in str(error)


async def test_an_unreachable_server_is_retryable_and_the_error_contains_its_address_without_password() -> None:
    error = await raised_at("http://someone:EXAMPLE-pw@127.0.0.1:9")
    assert isinstance(error, Retryable)
    assert NOBODY in str(error) and "ollama serve" in str(error) and "EXAMPLE" not in str(error)


async def test_answer_that_is_no_chat_response_is_retryable(server: OllamaServer) -> None:
    server.script("page")
    error = await raised_at(server.url)
    assert isinstance(error, Retryable) and "not a chat response" in str(error)


@pytest.mark.parametrize("model", ["qwen-of-tomorrow", "llama-test:70b"])
async def test_a_missing_model_is_misconfigured_and_the_error_contains_the_pull_command(
    server: OllamaServer, model: str
) -> None:
    error = await raised_at(server.url, model)
    assert isinstance(error, Misconfigured) and f"`ollama pull {model}`" in str(error)
    assert server.url in str(error)


async def test_a_missing_model_is_recognised_by_the_older_error_message(server: OllamaServer) -> None:
    server.script("not_found")
    error = await raised_at(server.url)
    assert isinstance(error, Misconfigured) and f"`ollama pull {MODEL}`" in str(error)


async def test_model_that_only_embeds_is_misconfigured(server: OllamaServer) -> None:
    error = await raised_at(server.url, EMBEDDER)
    assert isinstance(error, Misconfigured) and "does not support chat" in str(error)


@pytest.mark.parametrize("step", ["unauthorized", "cloud_disabled", "status:404", "status:405", "status:301"])
async def test_a_permanent_server_error_is_misconfigured(server: OllamaServer, step: str) -> None:
    server.script(step)
    error = await raised_at(server.url)
    assert isinstance(error, Misconfigured) and "ollama pull" not in str(error)


@pytest.mark.parametrize("address", ["127.0.0.1:11434", "ftp://127.0.0.1", "", "http://127.0.0.1:port"])
async def test_an_invalid_server_address_is_misconfigured(address: str) -> None:
    with pytest.raises(Misconfigured, match=r"http://127\.0\.0\.1:11434"):
        await OllamaProvider(MODEL, address).extract(SLICE, knowing())


async def test_request_that_the_server_refuses_is_rejected(server: OllamaServer) -> None:
    server.script("bad_request")
    error = await raised_at(server.url)
    assert isinstance(error, Rejected) and error.reason == "refused_request"
