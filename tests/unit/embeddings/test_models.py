"""Prefixes, token limits and similarities of each in-process embedding model."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray
from tokenizers import Tokenizer

from deploy.embedded.embedding_models import JARS, files_in
from sinks.embeddings.models import BGE_SMALL, E5_CHAT, E5_SMALL, MINILM, MODELS, Model, ModelFiles, minilm_files
from sinks.embeddings.onnx import OnnxEmbedder
from tests.embedders import CACHE_DIR, packaged_embedder

TEXTS = ["The cat sleeps on the sofa.", "Berlin is the capital of Germany.", "Alice adopted a kitten last May."]
QUESTIONS = ["When did Alice get a cat?", "What is Germany's capital?"]
# By other code (onnxruntime, tokenizers, one text at a time), with the prefixes and pooling of the model cards.
COSINES = {
    MINILM.name: [[0.249, -0.041, 0.804], [-0.040, 0.798, 0.020]],
    E5_SMALL.name: [[0.714, 0.658, 0.832], [0.621, 0.901, 0.680]],
    BGE_SMALL.name: [[0.466, 0.385, 0.775], [0.257, 0.805, 0.323]],
}
# Of the packaged encoders, after their training.
TRAINED_COSINES = {
    E5_SMALL.name: [[0.625, 0.510, 0.763], [0.515, 0.848, 0.567]],
    E5_CHAT.name: [[0.532, 0.350, 0.687], [0.337, 0.737, 0.398]],
}


@pytest.fixture(scope="module", params=MODELS.values(), ids=lambda model: model.name)
def model(request: pytest.FixtureRequest) -> Model:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def embedder(model: Model) -> Iterator[OnnxEmbedder]:
    with closing(packaged_embedder(model.name)) as opened:
        yield opened


def files_of(model: Model) -> ModelFiles:
    return minilm_files() if model is MINILM else files_in(CACHE_DIR / "jars" / JARS[model.name].file_name)


async def cosines(embedder: OnnxEmbedder) -> NDArray[np.float32]:
    found: NDArray[np.float32] = await embedder.embed_questions(QUESTIONS) @ (await embedder.embed(TEXTS)).T
    return found


async def test_cosine_similarities_match_the_reference_values(model: Model, embedder: OnnxEmbedder) -> None:
    if model.question_graph is None:
        np.testing.assert_allclose(await cosines(embedder), COSINES[model.name], atol=0.02)
    else:
        np.testing.assert_allclose(await cosines(embedder), TRAINED_COSINES[model.name], atol=0.02)
        plain = replace(model, question_graph=None, text_graph=None)
        with closing(OnnxEmbedder(plain, files_of(model))) as untrained:
            np.testing.assert_allclose(await cosines(untrained), COSINES[E5_SMALL.name], atol=0.02)


async def test_each_question_is_closest_to_its_answer(embedder: OnnxEmbedder) -> None:
    assert (await cosines(embedder)).argmax(axis=1).tolist() == [2, 1]


async def test_models_trained_with_a_query_prefix_embed_questions_differently_from_texts(
    model: Model, embedder: OnnxEmbedder
) -> None:
    (question_vector,), (stored,) = await embedder.embed_questions(["Berlin"]), await embedder.embed(["Berlin"])
    assert bool(np.allclose(question_vector, stored, atol=1e-4)) is (model is MINILM)


async def test_text_beyond_the_token_limit_of_the_model_is_ignored(model: Model, embedder: OnnxEmbedder) -> None:
    tokenizer = Tokenizer.from_buffer(files_of(model).tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    room = model.max_tokens - len(tokenizer.encode(model.before_text).ids)  # [CLS], what stands before, [SEP]
    full = "tea " * room
    whole, beyond, within = await embedder.embed([full, full + "invoice " * 50, "tea " * (room - 1) + "invoice"])
    np.testing.assert_allclose(beyond, whole, atol=1e-4)
    assert not np.allclose(within, whole, atol=1e-4)


def test_the_available_embedding_models_have_distinct_names() -> None:
    assert list(MODELS) == [
        "e5-small-v2-chat-int8",
        "e5-small-v2-int8",
        "bge-small-en-v1.5-int8",
        "all-MiniLM-L6-v2-int8",
    ]
