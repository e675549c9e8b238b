"""Selection of providers by settings, and the doctor's report on them."""

from typing import Any

import pytest

from agents.models.auto import AutoProvider
from agents.models.ollama.provider import max_slice_tokens
from agents.models.prompts.extraction import MAX_SLICE_TOKENS
from agents.policies.changes import StoredPolicies
from deploy.cli import doctor
from deploy.settings import Settings, load
from deploy.wiring import models
from schemas.errors import MemstreamError, Misconfigured, Retryable
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, slice_of
from tests.servers.messages import KEY
from tests.servers.ollama import MODEL, OllamaServer

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def settings(**chosen: object) -> Settings:
    return load(_env_file=None, ollama_base_url=NOBODY, **chosen)


@pytest.mark.parametrize("name", ["offline", "claude", "ollama", "auto"])
async def test_the_configured_provider_is_used(name: str) -> None:
    provider = models.provider(settings(provider=name))
    assert provider.name == name
    await provider.close()


@pytest.mark.parametrize(
    ("order", "expected"),
    [(None, ["ollama", "claude", "offline"]), ("claude", ["claude"]), ("claude,ollama", ["claude", "ollama"])],
)
async def test_auto_uses_the_providers_in_the_configured_order(order: str | None, expected: list[str]) -> None:
    chosen = {"provider_order": order} if order else {}
    provider = models.provider(settings(provider="auto", **chosen))
    assert isinstance(provider, AutoProvider)
    assert [each.name for each in provider.providers] == expected
    await provider.close()


async def test_a_failing_model_is_not_called_for_the_configured_rest_period() -> None:
    provider = models.provider(settings(provider="ollama", model_rest_s=75.0))
    for _ in range(5):
        with pytest.raises(Retryable):
            await provider.extract(slice_of("I live in Turin."), knowing())
    assert "no calls for the next 75 s" in str(await provider.unavailable_reason())
    await provider.close()


@pytest.mark.parametrize("order", ["", "claude,", "auto", "claude;ollama", "claude,claude"])
def test_an_invalid_provider_order_is_reported(order: str) -> None:
    with pytest.raises(Misconfigured, match="MEMSTREAM_PROVIDER_ORDER"):
        settings(provider="auto", provider_order=order)


async def test_the_doctor_reports_the_availability_of_each_provider_and_what_is_missing() -> None:
    said = await doctor.provider(settings(provider="auto"))
    assert "ollama: Ollama could not be reached at http://127.0.0.1:9" in said and "ollama serve" in said
    assert "claude: no credentials for Claude: set MEMSTREAM_ANTHROPIC_API_KEY" in said
    assert "offline: available" in said


async def test_the_doctor_fails_if_no_provider_is_available() -> None:
    with pytest.raises(MemstreamError, match=r"ollama: .*; claude: no credentials"):
        await doctor.provider(settings(provider="auto", provider_order="ollama,claude"))


async def test_the_doctor_distinguishes_a_missing_ollama_model_from_an_unreachable_server() -> None:
    async with OllamaServer() as server:
        chosen = load(_env_file=None, provider="ollama", ollama_base_url=server.url, ollama_model="qwen-of-tomorrow")
        with pytest.raises(MemstreamError, match="run `ollama pull qwen-of-tomorrow`"):
            await doctor.provider(chosen)
        chosen = load(_env_file=None, provider="ollama", ollama_base_url=server.url, ollama_model=MODEL)
        assert await doctor.provider(chosen) == "ollama: available"


async def test_the_doctor_detects_a_local_only_policy_that_the_provider_violates(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_stored(_settings: Settings) -> StoredPolicies:
        return StoredPolicies({}, {}, {})

    monkeypatch.setattr(doctor, "stored_policies", nothing_stored)
    policies = tmp_path / "policies.json"
    policies.write_text('[{"name": "secret", "local_only": true}]')
    chosen = settings(provider="claude", anthropic_api_key=KEY, policies_file=policies)
    with pytest.raises(Misconfigured, match="'secret' is local_only"):
        await doctor.policies(chosen)
    assert "secret" in await doctor.policies(settings(provider="auto", policies_file=policies))


@pytest.mark.parametrize(
    ("chosen", "most"),
    [
        ({"provider": "claude"}, MAX_SLICE_TOKENS),
        ({"provider": "ollama"}, max_slice_tokens()),
        ({"provider": "auto"}, max_slice_tokens()),
        ({"provider": "auto", "provider_order": "claude,offline"}, MAX_SLICE_TOKENS),
    ],
)
def test_slices_fit_the_smallest_model_of_the_configured_providers(chosen: dict[str, object], most: int) -> None:
    assert models.slice_token_limit(settings(**chosen)) == most
    assert Policy(name="p").slice_tokens <= max_slice_tokens() < MAX_SLICE_TOKENS


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"provider": "auto", "anthropic_api_key": KEY}, "claude"),
        ({"provider": "claude"}, "claude"),
        ({"provider": "auto"}, None),
        ({"provider": "offline"}, None),
    ],
)
async def test_auto_uses_the_batch_api_of_the_provider_that_has_one(chosen: dict[str, Any], named: str | None) -> None:
    provider = models.provider(settings(**chosen))
    batches = await models.model_batches(provider)
    assert (batches and batches.name) == named
    await provider.close()
