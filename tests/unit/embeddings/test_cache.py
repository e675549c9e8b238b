from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.cache import Remembering
from sinks.embeddings.fake import FakeEmbedder
from tests.fakes.embedder import ApartEmbedder


class CountingEmbedder(FakeEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return await super().embed(texts)


async def test_a_text_that_is_asked_for_again_is_not_embedded_again():
    model = CountingEmbedder()
    remembering = Remembering(model)
    once, again = await remembering.embed(["green tea"]), await remembering.embed(["green tea"])
    assert model.asked == ["green tea"]
    np.testing.assert_array_equal(once, again)


async def test_only_what_is_not_known_is_embedded_and_rows_keep_the_order_of_the_texts():
    model = CountingEmbedder()
    remembering = Remembering(model)
    await remembering.embed(["tea"])
    rows = await remembering.embed(["milk", "tea", "milk"])
    assert model.asked == ["tea", "milk"]
    np.testing.assert_array_equal(rows, await model.embed(["milk", "tea", "milk"]))


async def test_what_was_asked_for_longest_ago_is_forgotten_first():
    model = CountingEmbedder()
    remembering = Remembering(model, most=2)
    for text in ("tea", "milk", "tea", "bread", "tea", "milk"):
        await remembering.embed([text])
    assert model.asked == ["tea", "milk", "bread", "milk"]


async def test_more_texts_at_once_than_are_kept_are_all_embedded():
    rows = await Remembering(FakeEmbedder(), most=1).embed(["tea", "milk", "bread"])
    np.testing.assert_array_equal(rows, await FakeEmbedder().embed(["tea", "milk", "bread"]))


async def test_what_a_caller_does_to_its_vector_changes_no_later_answer():
    remembering = Remembering(FakeEmbedder())
    (await remembering.embed(["tea"]))[:] = 0
    np.testing.assert_array_equal(await remembering.embed(["tea"]), await FakeEmbedder().embed(["tea"]))


async def test_a_question_and_a_text_of_the_same_words_are_kept_apart():
    model = ApartEmbedder()
    remembering = Remembering(model)
    for _ in range(2):
        await remembering.embed(["green tea"])
        await remembering.embed_questions(["green tea"])
    assert (model.stored, model.questions) == (["green tea"], ["green tea"])
