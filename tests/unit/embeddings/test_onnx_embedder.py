"""Batching of waiting texts in an in-process model, and abandoned calls."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from deploy.embedded.embedding_models import opened_model
from sinks.embeddings import onnx
from sinks.embeddings.models import MINILM, minilm_files
from sinks.embeddings.onnx import OnnxEmbedder
from tests.embedders import CACHE_DIR

QUESTIONS = ("Where does she live?", "Which tea do I like best in the morning?", "When is the dentist?")


class Noted(OnnxEmbedder):
    """Notes what is embedded at once; `failure` is raised instead."""

    def __init__(self) -> None:
        super().__init__(MINILM, minilm_files(), threads=1)
        self.together: list[list[str]] = []
        self.failure: Exception | None = None

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        self.together.append(texts)
        if self.failure is not None:
            raise self.failure
        return super()._vectors(texts)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """The thread does nothing of what is asked meanwhile."""
        done = Event()
        self._threads.submit(done.wait)
        try:
            yield
        finally:
            done.set()


@pytest.fixture(scope="module")
def loaded() -> Iterator[Noted]:
    with closing(Noted()) as embedder:
        yield embedder


@pytest.fixture
def embedder(loaded: Noted) -> Noted:
    loaded.together, loaded.failure = [], None
    return loaded


async def waiting_calls(embedder: Noted, *calls: tuple[str, ...]) -> list[asyncio.Task[NDArray[np.float32]]]:
    """The calls as tasks, all of which wait for the thread."""
    tasks = [asyncio.create_task(embedder.embed(texts)) for texts in calls]
    await asyncio.sleep(0)
    return tasks


def batches(embedder: Noted) -> list[list[str]]:
    return [texts for texts in embedder.together if texts]


async def test_waiting_questions_are_embedded_in_one_batch_and_each_caller_gets_its_own_vector(embedder: Noted) -> None:
    alone = [await embedder.embed((question,)) for question in QUESTIONS]
    embedder.together = []
    with embedder.busy():
        tasks = await waiting_calls(embedder, *((question,) for question in QUESTIONS))
    found = await asyncio.gather(*tasks)
    assert batches(embedder) == [list(QUESTIONS)]
    for each, expected in zip(found, alone, strict=True):
        assert each == pytest.approx(expected, abs=1e-5)


async def test_waiting_texts_are_embedded_in_order_of_arrival_in_batches_of_limited_size(embedder: Noted) -> None:
    many = tuple(f"Fact {number}." for number in range(MINILM.batch))
    with embedder.busy():
        tasks = await waiting_calls(embedder, (QUESTIONS[0],), many, (QUESTIONS[1],))
    assert [len(each) for each in await asyncio.gather(*tasks)] == [1, MINILM.batch, 1]
    assert batches(embedder) == [[QUESTIONS[0], *many[:-1]], [many[-1], QUESTIONS[1]]]


async def test_a_batch_is_made_of_texts_of_similar_length(embedder: Noted) -> None:
    texts = ["word " * length for length in (40, 1, 30, 2, 20, 3, 10, 4, 50, 5, 60, 6, 70, 7, 80, 8)]
    await embedder.embed(texts)
    assert embedder.together == [sorted(texts, key=len)[:8], sorted(texts, key=len)[8:]]


async def test_a_cancelled_request_is_not_embedded(embedder: Noted) -> None:
    with embedder.busy():
        given_up, kept = await waiting_calls(embedder, (QUESTIONS[0],), (QUESTIONS[1],))
        given_up.cancel()
        await asyncio.wait([given_up])
    assert len(await kept) == 1
    assert batches(embedder) == [[QUESTIONS[1]]]


async def test_a_model_failure_is_raised_to_every_waiting_caller(embedder: Noted) -> None:
    embedder.failure = RuntimeError("no memory")
    with embedder.busy():
        tasks = await waiting_calls(embedder, (QUESTIONS[0],), (QUESTIONS[1],))
    for each in tasks:
        with pytest.raises(RuntimeError, match="no memory"):
            await each


async def test_a_text_that_cannot_be_embedded_does_not_fail_other_callers(embedder: Noted) -> None:
    with embedder.busy():
        first, bad, last = await waiting_calls(
            embedder, (QUESTIONS[0],), ("half a character: \ud800",), (QUESTIONS[1],)
        )
    assert (len(await first), len(await last)) == (1, 1)
    with pytest.raises(TypeError):
        await bad


async def test_long_texts_are_computed_in_small_batches(embedder: Noted) -> None:
    texts = ("tea " * 500, "sofa " * 500, "tea", "sofa")
    with embedder.busy():
        (task,) = await waiting_calls(embedder, texts)
    await task
    assert batches(embedder) == [["tea", "sofa", texts[0]], [texts[1]]]


async def test_an_embedder_that_shares_a_loaded_model_works_after_the_other_one_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = opened_model(MINILM.name, CACHE_DIR)
    monkeypatch.setattr(onnx.onnxruntime, "InferenceSession", None)  # nothing is loaded from here on
    with closing(opened_model(MINILM.name, CACHE_DIR)) as second:
        expected = await first.embed(QUESTIONS)
        first.close()
        assert await second.embed(QUESTIONS) == pytest.approx(expected, abs=1e-5)
