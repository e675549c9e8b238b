"""Texts are embedded in calls of bounded size, each text once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.batching import MAX_CHARS, MAX_TEXTS, embed_in_batches
from tests.fakes.embedder import FakeEmbedder


class Calls(FakeEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        return await super().embed(texts)


async def test_each_text_gets_its_own_vector_and_is_embedded_once():
    embedder = Calls()
    found = await embed_in_batches(embedder, ["tea", "coffee", "tea"])
    assert sorted(text for call in embedder.calls for text in call) == ["coffee", "tea"]
    assert np.allclose(found["coffee"], (await FakeEmbedder().embed(["coffee"]))[0])
    assert await embed_in_batches(embedder, []) == {}


async def test_no_call_has_more_texts_or_characters_than_are_allowed():
    embedder = Calls()
    short = [f"text {number}" for number in range(MAX_TEXTS + 1)]
    long = [str(number) + "x" * (MAX_CHARS // 2) for number in range(3)]
    await embed_in_batches(embedder, [*long, *short, "y" * (2 * MAX_CHARS)])
    assert max(len(call) for call in embedder.calls) == MAX_TEXTS
    assert all(len(call) == 1 or sum(map(len, call)) <= MAX_CHARS for call in embedder.calls)
    assert sum(len(call) for call in embedder.calls) == 3 + len(short) + 1
