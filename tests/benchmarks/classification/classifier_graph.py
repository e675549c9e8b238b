"""Builds the graphs of `sinks/classification`: multilingual-e5-small as a cross-encoder, whose last layers were trained to
classify pairs of texts.

The other layers are those of the embedding model: the graphs refer to their bytes in `multilingual.bin`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from sinks.classification.cross_encoder import OUTPUT, TRAINED_ON
from tests.benchmarks.classification.minilm_graph import Graph, StoredModel

# The weights of a layer in the order in which the packaged model has its dense parts.
DENSE: Final = ("query", "key", "value", "attended", "wide", "narrow")
BIASES: Final[Mapping[str, str]] = {
    "query_bias": "attention.self.query.bias",
    "value_bias": "attention.self.value.bias",
    "attended_bias": "attention.output.dense.bias",
    "attended_norm": "attention.output.LayerNorm.weight",
    "attended_norm_bias": "attention.output.LayerNorm.bias",
    "wide_bias": "intermediate.dense.bias",
    "narrow_bias": "output.dense.bias",
    "narrow_norm": "output.LayerNorm.weight",
    "narrow_norm_bias": "output.LayerNorm.bias",
}
Layer = Mapping[str, NDArray[np.float32]]


class ClassifierGraph(Graph):
    """`layers` are the trained last layers; `head` maps the first token's vector beside the mean of all to the classes."""

    def __init__(self, stored: StoredModel, layers: list[Layer], head: Layer) -> None:
        super().__init__(stored)
        self._classes = len(head["bias"])
        self._trained: dict[str, NDArray[Any]] = {"head": head["weight"], "head_bias": head["bias"]}
        for number, layer in enumerate(layers, start=stored.layers - len(layers)):
            for name, part in zip(stored.dense[6 * number : 6 * number + 6], DENSE, strict=True):
                scale = np.abs(layer[part]).max(axis=0) / 127
                self._trained[f"{name}_q"] = np.round(layer[part] / scale).astype(np.int8)
                self._trained[f"{name}_scale"] = scale.astype(np.float32)
            for part, name in BIASES.items():
                self._trained[f"inner.encoder.layer.{number}.{name}"] = layer[part]

    def weight(self, name: str) -> str:
        if name not in self._trained:
            return super().weight(name)
        self.tensors.setdefault(name, numpy_helper.from_array(self._trained[name], name))
        return name

    def model(self) -> Any:
        """The graph of the embedding model with the head behind it: output `probabilities`, shape (batch, classes)."""
        by_token = self.node("counted.tokens", "Unsqueeze", "counted", self.constant("last", np.array([2])))
        weighted = self.node("told", "Mul", "last_hidden_state", by_token)
        total = self.node("total", "ReduceSum", weighted, self.constant("token_axis", np.array([1])), keepdims=0)
        count = self.node("tokens.count", "ReduceSum", "counted", "token_axis", keepdims=1)
        mean = self.node("mean", "Div", total, count)
        first = self.node("first", "Gather", "last_hidden_state", self.constant("zero", np.array(0)), axis=1)
        both = self.node("both", "Concat", first, mean, axis=1)
        scores = self.node("scores", "Gemm", both, self.weight("head"), self.weight("head_bias"))
        self.node(OUTPUT, "Softmax", scores, axis=-1)
        model = super().model()
        del model.graph.output[:]
        model.graph.output.append(helper.make_tensor_value_info(OUTPUT, 1, ["batch", self._classes]))
        model.graph.name = "classifier"
        return model

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.tensors[name] = numpy_helper.from_array(value, name)
        return name


def write(path: Path, stored: StoredModel, layers: list[Layer], head: Layer, trained_on: str) -> None:
    """`trained_on` is the hash of the training files, which the file keeps in its metadata."""
    model = ClassifierGraph(stored, layers, head).build()
    helper.set_model_props(model, {TRAINED_ON: trained_on})
    path.write_bytes(model.SerializeToString(deterministic=True))
