"""The encoder of questions of e5-small-v2: its last layers were trained, the others are those of the model's own file."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import onnxruntime
import pytest
from msgspec.structs import replace

from deploy.embedded.embedding_models import JARS, files_in
from sinks.classification.cross_encoder import TRAINED_ON
from sinks.embeddings.models import E5_SMALL, ModelFiles
from sinks.embeddings.onnx import OnnxEmbedder, session_options
from tests.benchmarks.questions.chats import hash_of_files
from tests.embedders import CACHE_DIR, packaged_embedder

# A question, the message that answers it, and one that resembles it and answers nothing.
RIVALS = [
    (
        "Which sports does Ben do?",
        "Ben: finally played nine holes again on saturday",
        "Ana: wow you really love your sports Ben",
    ),
    (
        "What pets does Ana have?",
        "Ana: Biscuit chewed up my left shoe again",
        "Ben: pets are the best, I so want one too",
    ),
    ("Who is ill?", "Ana: mum is in bed with a fever since monday", "Ben: oh no, being ill is the worst"),
]


@pytest.fixture(scope="module")
def trained() -> Iterator[OnnxEmbedder]:
    with closing(packaged_embedder(E5_SMALL.name)) as opened:
        yield opened


@pytest.fixture(scope="module")
def files(trained: OnnxEmbedder) -> ModelFiles:
    return files_in(CACHE_DIR / "jars" / JARS[E5_SMALL.name].file_name)


@pytest.fixture(scope="module")
def untrained(files: ModelFiles) -> Iterator[OnnxEmbedder]:
    with closing(OnnxEmbedder(replace(E5_SMALL, question_graph=None), files)) as opened:
        yield opened


async def margins(embedder: OnnxEmbedder) -> list[float]:
    """How much nearer the answers are than what resembles the questions."""
    question_vectors = await embedder.embed_questions([question for question, _, _ in RIVALS])
    answers = await embedder.embed([answer for _, answer, _ in RIVALS])
    others = await embedder.embed([other for _, _, other in RIVALS])
    return [
        float(vector @ (answer - other))
        for vector, answer, other in zip(question_vectors, answers, others, strict=True)
    ]


async def test_training_moves_questions_towards_their_answers_away_from_messages_with_the_same_words(
    trained: OnnxEmbedder, untrained: OnnxEmbedder
) -> None:
    before, after = await margins(untrained), await margins(trained)
    assert np.mean(after) > np.mean(before) + 0.005, (before, after)


async def test_texts_keep_their_vectors_so_that_stored_ones_stay_valid(
    trained: OnnxEmbedder, untrained: OnnxEmbedder
) -> None:
    texts = [answer for _, answer, _ in RIVALS]
    np.testing.assert_array_equal(await trained.embed(texts), await untrained.embed(texts))


async def test_a_question_stays_near_its_untrained_vector(trained: OnnxEmbedder, untrained: OnnxEmbedder) -> None:
    texts = [question for question, _, _ in RIVALS]
    cosines = (await trained.embed_questions(texts) * await untrained.embed_questions(texts)).sum(axis=1)
    assert 0.8 < cosines.min() < cosines.max() < 0.999


def test_shipped_graph_was_trained_on_the_current_chats(files: ModelFiles) -> None:
    assert E5_SMALL.question_graph is not None
    own = files.with_graph(E5_SMALL.question_graph.read_bytes())
    session = onnxruntime.InferenceSession(own.onnx, session_options(None, own.contents))
    assert session.get_modelmeta().custom_metadata_map[TRAINED_ON] == hash_of_files(), "run `make train-questions`"


def test_the_graph_holds_the_trained_layers_alone_and_needs_the_file_of_its_model(files: ModelFiles) -> None:
    assert E5_SMALL.question_graph is not None
    graph = E5_SMALL.question_graph.read_bytes()
    assert len(graph) < len(files.onnx) / 2
    with pytest.raises(Exception, match=r"e5-small-v2-q\.onnx"):
        OnnxEmbedder(replace(E5_SMALL, question_graph=None), ModelFiles(graph, files.tokenizer, "questions"))
