"""Which embedder the settings pick."""

import pytest

from deploy import connections
from deploy.settings import Settings, load
from schemas.errors import Misconfigured, Retryable
from tests.embedding_server import KEY, MODEL, EmbeddingServer


def settings(**overrides: object) -> Settings:
    return load(_env_file=None, **overrides)


async def test_the_model_that_ships_is_the_default() -> None:
    async with connections.embedder(settings()) as embedder:
        assert (embedder.model, embedder.dimension, embedder.local) == ("all-MiniLM-L6-v2-int8", 384, True)


async def test_an_ollama_server_and_an_openai_endpoint_embed_when_they_are_named() -> None:
    async with EmbeddingServer(dimension=48, key=KEY) as server:
        ollama = settings(embedder="ollama", embedder_model=MODEL, embedder_base_url=server.url)
        async with connections.embedder(ollama) as embedder:
            assert (embedder.model, embedder.dimension) == (f"{MODEL}:latest", 48)
            assert (await embedder.embed(["tea"])).shape == (1, 48)
        openai = settings(
            embedder="openai",
            embedder_model=MODEL,
            embedder_base_url=server.openai_url,
            embedder_api_key=KEY,
            embedder_dimension=16,
        )
        async with connections.embedder(openai) as embedder:
            assert (embedder.model, embedder.dimension) == (MODEL, 16)
        assert KEY not in repr(openai)


async def test_an_endpoint_that_does_not_answer_is_waited_for() -> None:
    gone = settings(embedder="ollama", embedder_model=MODEL, embedder_base_url="http://127.0.0.1:1")
    with pytest.raises(Retryable, match="no answer"):
        async with connections.embedder(gone):
            raise AssertionError("nobody is there")


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"embedder": "ollama"}, "MEMSTREAM_EMBEDDER_MODEL"),
        ({"embedder": "openai", "embedder_base_url": "http://h/v1"}, "MEMSTREAM_EMBEDDER_MODEL"),
        ({"embedder": "openai", "embedder_model": "m"}, "MEMSTREAM_EMBEDDER_BASE_URL"),
    ],
)
def test_an_embedder_without_a_name_or_an_address_is_a_wrong_set_up(given: dict[str, object], missing: str) -> None:
    with pytest.raises(Misconfigured, match=missing):
        settings(**given)
