"""The contract of all embedders: in-process models, the fake, and models behind a local server of both protocols."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, aclosing, closing
from functools import cache

import numpy as np
import pytest

from sinks.embeddings.cache import CachedEmbedder
from sinks.embeddings.endpoint import Endpoint
from sinks.embeddings.models import MODELS
from sinks.embeddings.onnx import OnnxEmbedder
from sinks.embeddings.port import Embedder
from sinks.embeddings.protocols import OllamaDialect, OpenAiDialect
from sinks.embeddings.remote import RemoteEmbedder
from tests.embedders import packaged_embedder
from tests.fakes.embedder import FakeEmbedder
from tests.servers.embeddings import MODEL, EmbeddingServer

TEXTS = ["The user drinks tea in the morning", "In the morning the user drinks green tea", "Invoices are due on Friday"]


@pytest.fixture(scope="module")
def models() -> Iterator[Callable[[str], OnnxEmbedder]]:
    """Models of this process by name, each loaded once: that takes a second of a core."""
    with ExitStack() as opened:
        yield cache(lambda name: opened.enter_context(closing(packaged_embedder(name))))


@pytest.fixture(params=["fake", "fake that is remembered", *MODELS, "ollama", "ollama that cuts nothing", "openai"])
async def embedder(request: pytest.FixtureRequest, models: Callable[[str], OnnxEmbedder]) -> AsyncIterator[Embedder]:
    if request.param == "fake":
        yield FakeEmbedder()
    elif request.param == "fake that is remembered":
        yield CachedEmbedder(FakeEmbedder())
    elif request.param in MODELS:
        yield models(request.param)
    else:
        async with EmbeddingServer(cuts=request.param == "ollama") as server:
            speaks_openai = request.param == "openai"
            async with aclosing(Endpoint(server.openai_url if speaks_openai else server.url)) as endpoint:
                dialect = OpenAiDialect() if speaks_openai else OllamaDialect()
                yield await RemoteEmbedder.connect(endpoint, dialect, MODEL)


async def test_rows_are_unit_vectors_of_the_stated_dimension(embedder: Embedder):
    vectors = await embedder.embed(TEXTS)
    assert vectors.shape == (3, embedder.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_no_texts_give_no_rows(embedder: Embedder):
    assert (await embedder.embed([])).shape == (0, embedder.dimension)


async def test_texts_with_the_same_meaning_have_closer_vectors_than_others(embedder: Embedder):
    tea, green_tea, invoices = await embedder.embed(TEXTS)
    assert tea @ green_tea > 0.7
    assert tea @ green_tea - tea @ invoices > 0.15


async def test_questions_are_embedded_as_unit_vectors_nearest_to_the_answering_text(embedder: Embedder):
    questions = await embedder.embed_questions(["What does the user drink in the morning?", "When are invoices due?"])
    assert questions.shape == (2, embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(questions, axis=1), 1, atol=1e-5)
    assert (questions @ (await embedder.embed(TEXTS[1:])).T).argmax(axis=1).tolist() == [0, 1]


async def test_the_vector_of_a_text_does_not_depend_on_other_texts_of_the_call(embedder: Embedder):
    crowd = [f"{' word' * (index % 40)} number {index}" for index in range(70)]
    alone = await embedder.embed([TEXTS[0]])
    among = await embedder.embed([*crowd[:30], TEXTS[0], *crowd[30:]])
    np.testing.assert_allclose(among[30], alone[0], atol=1e-4)


async def test_rows_come_in_the_order_of_the_texts(embedder: Embedder):
    texts = ["a" * length for length in (30, 1, 200, 7)]
    together = await embedder.embed(texts)
    one_by_one = np.vstack([await embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, one_by_one, atol=1e-4)


@pytest.mark.parametrize("text", ["", " ", "…", "日本語のテキスト", "🙂", "x" * 20_000])
async def test_any_text_is_embedded_as_a_finite_unit_vector(embedder: Embedder, text: str):
    vectors = await embedder.embed([text])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors[0]), 1, atol=1e-5)


async def test_concurrent_embed_calls_return_correct_vectors(embedder: Embedder):
    results = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS * 4))
    expected = await embedder.embed(TEXTS)
    for index, vectors in enumerate(results):
        np.testing.assert_allclose(vectors[0], expected[index % 3], atol=1e-4)
