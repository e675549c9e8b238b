"""Selection of the embedder by settings."""

from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deploy.settings import Settings, load
from deploy.wiring import model_stages, vector_index
from schemas import codec
from schemas.errors import Misconfigured, Retryable
from schemas.policies.policies import Policies, Policy
from sinks.embeddings.models import MEMORY_DEFAULT, MEMORY_MODELS, PASSAGE_DEFAULT
from tests.embedders import CACHE_DIR
from tests.fakes.policy_topic import FakePolicyTopic
from tests.servers.embeddings import KEY, MODEL, EmbeddingServer


def settings(**overrides: object) -> Settings:
    return load(_env_file=None, **overrides)


async def test_memories_and_passages_each_have_a_default_model_of_this_process() -> None:
    async with vector_index.embedders(settings(cache_dir=CACHE_DIR)) as embedders:
        memories, passages = await embedders.of_memories(), await embedders.of_passages()
        assert (memories.model, memories.dimension) == (MEMORY_DEFAULT.name, 384)
        assert (passages.model, passages.dimension) == (PASSAGE_DEFAULT.name, 384)


@pytest.mark.parametrize("name", MEMORY_MODELS)
async def test_a_local_model_is_selected_by_name_and_loaded_once(name: str) -> None:
    chosen = settings(cache_dir=CACHE_DIR, embedder_model=name, passage_embedder_model=name)
    async with vector_index.embedders(chosen) as embedders:
        memories = await embedders.of_memories()
        assert memories.model == name
        assert await embedders.of_passages() is memories


@pytest.mark.parametrize("variable", ["embedder_model", "passage_embedder_model"])
def test_an_unknown_local_model_raises_misconfigured_with_the_available_ones(variable: str) -> None:
    named = f"MEMSTREAM_{variable.upper()}=nomic"
    with pytest.raises(Misconfigured, match=rf"{named}.*e5-small-v2-int8, bge-small-en-v1.5-int8"):
        settings(**{variable: "nomic-embed-text"})


def test_a_model_of_messages_is_refused_for_memories() -> None:
    refused = (
        r"MEMSTREAM_EMBEDDER_MODEL=e5-small-v2-chat-int8 is not a model for memories.*name one of e5-small-v2-int8, bge"
    )
    with pytest.raises(Misconfigured, match=refused):
        settings(embedder_model="e5-small-v2-chat-int8")


@pytest.mark.parametrize(("named", "passages"), [({}, "m"), ({"passage_embedder_model": "n"}, "n")])
def test_passages_use_the_model_of_memories_at_an_endpoint_unless_another_is_configured(
    named: dict[str, str], passages: str
) -> None:
    chosen = settings(embedder="ollama", embedder_model="m", **named)
    assert (chosen.embedding_model, chosen.passage_embedding_model) == ("m", passages)


async def test_configured_ollama_and_openai_embedders_are_used() -> None:
    async with EmbeddingServer(dimension=48, key=KEY) as server:
        ollama = settings(embedder="ollama", embedder_model=MODEL, embedder_base_url=server.url)
        async with vector_index.embedder(ollama, MODEL) as embedder:
            assert (embedder.model, embedder.dimension) == (f"{MODEL}:latest", 48)
            assert (await embedder.embed(["tea"])).shape == (1, 48)
        openai = settings(
            embedder="openai",
            embedder_model=MODEL,
            embedder_base_url=server.openai_url,
            embedder_api_key=KEY,
            embedder_dimension=16,
        )
        async with vector_index.embedder(openai, MODEL) as embedder:
            assert (embedder.model, embedder.dimension) == (MODEL, 16)
        assert KEY not in repr(openai)


async def test_an_unreachable_embedder_endpoint_raises_retryable() -> None:
    gone = settings(embedder="ollama", embedder_model=MODEL, embedder_base_url="http://127.0.0.1:1")
    with pytest.raises(Retryable, match="no answer"):
        async with vector_index.embedder(gone, MODEL):
            raise AssertionError("nobody is there")


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"embedder": "ollama"}, "MEMSTREAM_EMBEDDER_MODEL"),
        ({"embedder": "openai", "embedder_base_url": "http://h/v1"}, "MEMSTREAM_EMBEDDER_MODEL"),
        ({"embedder": "openai", "embedder_model": "m"}, "MEMSTREAM_EMBEDDER_BASE_URL"),
    ],
)
def test_an_embedder_without_a_model_or_base_url_raises_misconfigured(given: dict[str, object], missing: str) -> None:
    with pytest.raises(Misconfigured, match=missing):
        settings(**given)


ELSEWHERE = {"embedder": "openai", "embedder_model": "m", "embedder_base_url": "http://192.0.2.1/v1"}


@pytest.mark.parametrize(
    "given",
    [
        ELSEWHERE,
        {"embedder": "ollama", "embedder_model": "m:cloud"},
        {"embedder": "ollama", "embedder_model": "m", "passage_embedder_model": "m:cloud"},
    ],
    ids=["another machine", "handed on", "passages handed on"],
)
async def test_a_remote_embedder_is_rejected_under_a_local_only_policy(
    tmp_path: Path, given: dict[str, object]
) -> None:
    policies = tmp_path / "policies.json"
    policies.write_bytes(codec.encode((Policy(name="open"), Policy(name="ward", local_only=True))))
    with pytest.raises(Misconfigured, match=r"'ward' is local_only.*MEMSTREAM_EMBEDDER=onnx"):
        async with vector_index.embedder(settings(policies_file=policies, **given), MODEL):
            raise AssertionError("texts would leave")


async def test_a_remote_protocol_embedder_on_localhost_is_allowed_under_a_local_only_policy(tmp_path: Path) -> None:
    policies = tmp_path / "policies.json"
    policies.write_bytes(codec.encode((Policy(name="ward", local_only=True),)))
    async with EmbeddingServer() as server:
        here = settings(
            embedder="openai", embedder_model=MODEL, embedder_base_url=server.openai_url, policies_file=policies
        )
        async with vector_index.embedder(here, MODEL) as embedder:
            assert embedder.model == MODEL


@pytest.mark.parametrize(
    ("given", "refused"), [({}, False), (ELSEWHERE, True), ({"embedder": "ollama", "embedder_model": "m"}, False)]
)
def test_a_local_only_policy_added_later_is_checked_against_the_embedder(
    given: dict[str, object], refused: bool
) -> None:
    chosen = settings(**given)
    vector_index.check_local_only(chosen, Policies((Policy(name="open"),)))
    with pytest.raises(Misconfigured, match="'ward'") if refused else nullcontext():
        vector_index.check_local_only(chosen, Policies((Policy(name="ward", local_only=True),)))


class FollowedPolicies:
    """Policies that change."""

    def __init__(self) -> None:
        self.now = Policies((Policy(name="open"),))
        self.listeners: list[Callable[[Policies], None]] = []

    def add_listener(self, listener: Callable[[Policies], None]) -> None:
        self.listeners.append(listener)


async def test_a_worker_of_any_stage_that_embeds_ends_when_a_policy_forbids_to_send_texts() -> None:
    policies = FollowedPolicies()
    async with AsyncExitStack() as resources:
        wiring: Any = SimpleNamespace(settings=settings(**ELSEWHERE), policies=policies, resources=resources)
        model_stages.shared_embedders(wiring)
        ward = Policies((Policy(name="ward", local_only=True),))
        with pytest.raises(Misconfigured, match="'ward'"):
            for listener in policies.listeners:
                listener(ward)
        policies.now = ward
        with pytest.raises(Misconfigured, match="'ward'"):
            model_stages.shared_embedders(wiring)


@pytest.mark.parametrize(("put", "refused"), [(True, True), (False, False)], ids=["put", "put and removed"])
async def test_a_command_checks_the_policy_topic_before_using_a_remote_embedder(
    monkeypatch: pytest.MonkeyPatch, put: bool, refused: bool
) -> None:
    topic = FakePolicyTopic()
    topic.put(Policy(name="open"), Policy(name="ward", local_only=True))
    topic.write(b"ward", b"{")  # passed over
    if not put:
        topic.remove("ward")
    monkeypatch.setattr(vector_index, "policy_topic", lambda _: nullcontext(topic))
    with pytest.raises(Misconfigured, match="'ward'") if refused else nullcontext():
        await vector_index.check_local_only_by_topic(settings(**ELSEWHERE))
    topic.down = True
    await vector_index.check_local_only_by_topic(settings())
