import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.errors import Retryable
from sinks.embeddings.cache import CachedEmbedder
from tests.fakes.embedder import FakeEmbedder, SeparatingEmbedder


class CountingEmbedder(FakeEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.request_body: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.request_body += texts
        return await super().embed(texts)


async def test_a_repeated_text_is_not_embedded_again():
    model = CountingEmbedder()
    remembering = CachedEmbedder(model)
    once, again = await remembering.embed(["green tea"]), await remembering.embed(["green tea"])
    assert model.request_body == ["green tea"]
    np.testing.assert_array_equal(once, again)


async def test_only_uncached_texts_are_embedded_and_rows_keep_the_order_of_the_texts():
    model = CountingEmbedder()
    remembering = CachedEmbedder(model)
    await remembering.embed(["tea"])
    rows = await remembering.embed(["milk", "tea", "milk"])
    assert model.request_body == ["tea", "milk"]
    np.testing.assert_array_equal(rows, await model.embed(["milk", "tea", "milk"]))


async def test_the_least_recently_used_vector_is_evicted():
    model = CountingEmbedder()
    remembering = CachedEmbedder(model, most=2)
    for text in ("tea", "milk", "tea", "bread", "tea", "milk"):
        await remembering.embed([text])
    assert model.request_body == ["tea", "milk", "bread", "milk"]


async def test_a_request_larger_than_the_cache_is_embedded_completely():
    rows = await CachedEmbedder(FakeEmbedder(), most=1).embed(["tea", "milk", "bread"])
    np.testing.assert_array_equal(rows, await FakeEmbedder().embed(["tea", "milk", "bread"]))


async def test_mutating_a_returned_vector_does_not_change_the_cached_one():
    remembering = CachedEmbedder(FakeEmbedder())
    (await remembering.embed(["tea"]))[:] = 0
    np.testing.assert_array_equal(await remembering.embed(["tea"]), await FakeEmbedder().embed(["tea"]))


async def test_questions_and_stored_texts_are_cached_separately():
    model = SeparatingEmbedder()
    remembering = CachedEmbedder(model)
    for _ in range(2):
        await remembering.embed(["green tea"])
        await remembering.embed_questions(["green tea"])
    assert (model.stored, model.questions) == (["green tea"], ["green tea"])


class SlowEmbedder(CountingEmbedder):
    """Answers once it may; says whether it was cancelled before."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()
        self.cancelled = False

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.request_body += texts
        try:
            await self.may.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return await FakeEmbedder.embed(self, texts)


async def test_concurrent_requests_for_the_same_text_embed_it_once():
    model = SlowEmbedder()
    remembering = CachedEmbedder(model)
    one, other = (asyncio.create_task(remembering.embed(["tea"])) for _ in range(2))
    await asyncio.sleep(0)
    model.may.set()
    np.testing.assert_array_equal(await one, await other)
    assert model.request_body == ["tea"]


async def test_cancelling_one_waiter_does_not_affect_another_waiter_for_the_same_text():
    model = SlowEmbedder()
    remembering = CachedEmbedder(model)
    one, other = (asyncio.create_task(remembering.embed(["tea"])) for _ in range(2))
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.gather(one, return_exceptions=True)
    model.may.set()
    np.testing.assert_array_equal(await other, await FakeEmbedder().embed(["tea"]))


async def test_embedding_is_cancelled_if_all_waiters_cancel_and_can_be_requested_again():
    model = SlowEmbedder()
    remembering = CachedEmbedder(model)
    waiting = [asyncio.create_task(remembering.embed(["tea"])) for _ in range(2)]
    await asyncio.sleep(0)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await asyncio.sleep(0)
    assert model.cancelled
    model.may.set()
    assert (await remembering.embed(["tea"])).shape == (1, 384)


async def test_a_failed_embedding_is_not_cached():
    model = FailingOnce()
    remembering = CachedEmbedder(model)
    first = await asyncio.gather(remembering.embed(["tea"]), remembering.embed(["tea"]), return_exceptions=True)
    assert [type(each) for each in first] == [Retryable, Retryable]
    assert (await remembering.embed(["tea"])).shape == (1, 384)


class FailingOnce(FakeEmbedder):
    failed = False

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.failed:
            self.failed = True
            raise Retryable("the model is away")
        return await super().embed(texts)
