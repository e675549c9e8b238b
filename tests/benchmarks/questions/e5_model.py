"""e5-small-v2 as its jar holds it, quantised: read as floats, and written with trained last layers as a graph of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from deploy.embedded.embedding_models import JARS, ensure_model, files_in
from sinks.classification.cross_encoder import TRAINED_ON
from sinks.embeddings.models import E5_QUESTIONS, E5_SMALL, ModelFiles
from tests.benchmarks.classification.classifier_graph import BIASES, DENSE, Layer
from tests.embedders import CACHE_DIR

MAX_WEIGHT: Final = 63  # of a trained layer: 7 bits
SMALL: Final = 1024  # bytes; smaller tensors are copied instead of referred to

Array = NDArray[np.float32]


class StoredModel:
    """The ONNX file of the jar. Dense weights have the shape (inputs, outputs)."""

    def __init__(self) -> None:
        ensure_model(E5_SMALL.name, CACHE_DIR)
        self.files: ModelFiles = files_in(CACHE_DIR / "jars" / JARS[E5_SMALL.name].file_name)
        self._graph = onnx.load_from_string(self.files.onnx).graph
        self._tensors = {each.name: numpy_helper.to_array(each) for each in self._graph.initializer}
        products = [node for node in self._graph.node if node.op_type == "MatMulInteger"]
        self._dense = [node.input[1].removesuffix("_quantized") for node in products]  # six a layer, as in DENSE

    def embeddings(self) -> Mapping[str, Array]:
        return {
            "words": floats(self._tensors, "embeddings.word_embeddings.weight"),
            "places": floats(self._tensors, "embeddings.position_embeddings.weight"),
            "segments": floats(self._tensors, "embeddings.token_type_embeddings.weight"),
            "norm": self._tensors["embeddings.LayerNorm.weight"],
            "norm_bias": self._tensors["embeddings.LayerNorm.bias"],
        }

    def layers(self) -> list[Layer]:
        return self._layers(self._tensors)

    def question_layers(self) -> list[Layer]:
        """The layers of the packaged encoder of questions."""
        graph = onnx.load(str(E5_QUESTIONS), load_external_data=False).graph
        own = {
            each.name: numpy_helper.to_array(each)
            for each in graph.initializer
            if each.data_location != TensorProto.EXTERNAL
        }
        return self._layers(self._tensors | own)

    def _layers(self, tensors: Mapping[str, NDArray[Any]]) -> list[Layer]:
        return [
            {part: floats(tensors, name) for part, name in self._names(number)}
            | {part: tensors[f"encoder.layer.{number}.{name}"] for part, name in BIASES.items()}
            for number in range(len(self._dense) // len(DENSE))
        ]

    def _names(self, number: int) -> list[tuple[str, str]]:
        return list(zip(DENSE, self._dense[len(DENSE) * number : len(DENSE) * (number + 1)], strict=True))

    def with_last(self, layers: Sequence[Layer], trained_on: str) -> Any:
        """The model with other last layers. The weights of the other layers are references into the ONNX file of the jar."""
        model = onnx.load_from_string(self.files.onnx)
        trained = dict(self._trained(layers))
        for tensor in model.graph.initializer:
            if tensor.name in trained:
                tensor.CopyFrom(numpy_helper.from_array(trained[tensor.name], tensor.name))
            elif len(tensor.raw_data) >= SMALL:
                self._refer(tensor)
        helper.set_model_props(model, {TRAINED_ON: trained_on})
        return model

    def _trained(self, layers: Sequence[Layer]) -> Mapping[str, NDArray[Any]]:
        """In 7 bits, as in the jar, each column by its own scale. Weights beyond make exact products slower: a text takes 7.0 ms
        instead of 5.7."""
        made: dict[str, NDArray[Any]] = {}
        for number, layer in enumerate(layers, len(self._dense) // len(DENSE) - len(layers)):
            for part, name in self._names(number):
                scale = np.abs(layer[part]).max(axis=0) / MAX_WEIGHT
                made[f"{name}_quantized"] = np.round(layer[part] / scale).astype(np.int8)
                made[f"{name}_scale"] = scale.astype(np.float32)
                made[f"{name}_zero_point"] = np.array(0, np.int8)
            for part, name in BIASES.items():
                made[f"encoder.layer.{number}.{name}"] = np.asarray(layer[part])
        return made

    def _refer(self, tensor: Any) -> None:
        content = tensor.raw_data
        offset = self.files.onnx.find(content)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self.files.name), ("offset", offset), ("length", len(content))):
            tensor.external_data.add(key=key, value=str(value))


def floats(tensors: Mapping[str, NDArray[Any]], name: str) -> Array:
    steps = tensors[f"{name}_quantized"].astype(np.float32) - tensors[f"{name}_zero_point"]
    scaled: Array = steps * tensors[f"{name}_scale"]
    return scaled


def write(stored: StoredModel, layers: Sequence[Layer], trained_on: str, path: Path = E5_QUESTIONS) -> None:
    """`trained_on` is the hash of the training files, which the file keeps in its metadata."""
    path.write_bytes(stored.with_last(layers, trained_on).SerializeToString(deterministic=True))
