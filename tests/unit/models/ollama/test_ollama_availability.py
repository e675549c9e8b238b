"""Availability of an Ollama server, and whether requests stay on this machine."""

import pytest

from agents.models.ollama.models import is_cloud_model, with_tag
from agents.models.ollama.provider import OllamaProvider
from tests.servers.ollama import MODEL, OllamaServer
from tests.unit.models.ollama.asking import NOBODY


@pytest.mark.parametrize(
    ("model", "expected"),
    [(MODEL, True), ("llama-test", True), ("Llama-Test", True), ("llama-test:70b", False), ("llama", False)],
)
async def test_provider_is_available_when_its_model_was_pulled(
    server: OllamaServer, model: str, expected: bool
) -> None:
    provider = OllamaProvider(model, server.url + "/")
    trouble = await provider.unavailable_reason()
    assert (trouble is None) is expected
    assert expected or f"`ollama pull {model}`" in str(trouble)
    await provider.close()
    assert server.seen == []


@pytest.mark.parametrize("path", ["/elsewhere", "/api/version?"])
async def test_a_server_that_is_not_ollama_is_unavailable(server: OllamaServer, path: str) -> None:
    provider = OllamaProvider(MODEL, server.url + path)
    assert "is not an Ollama server" in str(await provider.unavailable_reason())
    await provider.close()


@pytest.mark.parametrize("address", [NOBODY, "127.0.0.1:11434", ""])
async def test_an_unreachable_server_or_invalid_address_is_unavailable(address: str) -> None:
    provider = OllamaProvider(MODEL, address)
    trouble = str(await provider.unavailable_reason())
    assert "ollama serve" in trouble if address == NOBODY else "http://127.0.0.1:11434" in trouble
    await provider.close()


async def test_requests_bypass_the_proxy_of_the_environment(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, NOBODY)
    provider = OllamaProvider(MODEL, server.url, timeout_s=60.0)
    assert await provider.unavailable_reason() is None
    await provider.close()


@pytest.mark.parametrize(
    ("model", "address", "leaves"),
    [
        (MODEL, "http://127.0.0.1:11434", False),
        (MODEL, "http://localhost:11434", False),
        (MODEL, "http://[::1]:11434", False),
        (MODEL, "http://192.168.1.7:11434", True),
        (MODEL, "http://127.0.0.1.example.com", True),
        ("gpt-oss:120b-cloud", "http://127.0.0.1:11434", True),
    ],
)
async def test_requests_stay_on_the_machine_if_both_server_and_model_are_local(
    model: str, address: str, leaves: bool
) -> None:
    provider = OllamaProvider(model, address)
    assert provider.leaves_machine is leaves
    await provider.close()


def test_a_cloud_model_is_recognised_by_its_tag() -> None:
    assert is_cloud_model("glm-5:cloud") and not is_cloud_model("cloudy:7b")


def test_a_model_name_without_a_tag_gets_the_tag_latest() -> None:
    assert with_tag("hub.example:5000/team/Model") == "hub.example:5000/team/model:latest"
    assert with_tag("model:7b") == "model:7b"
