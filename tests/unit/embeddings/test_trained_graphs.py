"""The encoders of questions and texts of e5-small-v2: only their last layers were trained and are in their files."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from msgspec.structs import replace

from deploy.embedded.embedding_models import JARS, ensure_model, files_in
from sinks.classification.cross_encoder import TRAINED_ON
from sinks.embeddings.models import E5_CHAT, E5_CHAT_QUESTIONS, E5_CHAT_TEXTS, E5_QUESTIONS, E5_SMALL, Model, ModelFiles
from sinks.embeddings.onnx import OnnxEmbedder, session_options
from tests.benchmarks.questions.chats import hash_of_files
from tests.embedders import CACHE_DIR, packaged_embedder

GRAPHS = (E5_QUESTIONS, E5_CHAT_QUESTIONS, E5_CHAT_TEXTS)
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


@pytest.fixture(scope="module", params=[E5_SMALL, E5_CHAT], ids=lambda model: model.name)
def model(request: pytest.FixtureRequest) -> Model:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def trained(model: Model) -> Iterator[OnnxEmbedder]:
    with closing(packaged_embedder(model.name)) as opened:
        yield opened


@pytest.fixture(scope="module")
def files() -> ModelFiles:
    ensure_model(E5_SMALL.name, CACHE_DIR)
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


async def test_texts_keep_their_vectors_if_only_the_encoder_of_questions_is_trained(
    model: Model, trained: OnnxEmbedder, untrained: OnnxEmbedder
) -> None:
    texts = [answer for _, answer, _ in RIVALS]
    same = np.array_equal(await trained.embed(texts), await untrained.embed(texts))
    assert same is (model.text_graph is None)


async def test_a_question_stays_near_its_untrained_vector(trained: OnnxEmbedder, untrained: OnnxEmbedder) -> None:
    texts = [question for question, _, _ in RIVALS]
    cosines = (await trained.embed_questions(texts) * await untrained.embed_questions(texts)).sum(axis=1)
    assert 0.75 < cosines.min() < cosines.max() < 0.999


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.name)
def test_shipped_graphs_were_trained_on_the_current_chats(files: ModelFiles, path: Path) -> None:
    own = files.with_graph(path.read_bytes())
    session = onnxruntime.InferenceSession(own.onnx, session_options(None, own.contents))
    trained_on = session.get_modelmeta().custom_metadata_map[TRAINED_ON]
    assert trained_on == hash_of_files(), "run `make train-questions train-messages`"


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.name)
def test_a_graph_holds_the_trained_layers_alone_and_needs_the_file_of_its_model(files: ModelFiles, path: Path) -> None:
    graph = path.read_bytes()
    assert len(graph) < len(files.onnx) / 2
    with pytest.raises(Exception, match=r"e5-small-v2-q\.onnx"):
        OnnxEmbedder(replace(E5_SMALL, question_graph=None), ModelFiles(graph, files.tokenizer, "questions"))
