"""Trains the last layers of a model and a head as a cross-encoder that classifies pairs of texts."""

import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import optax
from numpy.typing import NDArray
from onnx import numpy_helper

from sinks.classification.cross_encoder import pair_tokenizer, without_stops
from tests.benchmarks.classification import cross_encoder
from tests.benchmarks.classification.classifier_graph import BIASES, DENSE, Layer
from tests.benchmarks.classification.cross_encoder import Base

BATCH: Final = 32
RATE: Final = 1e-4
RATE_OF_HEAD: Final = 1e-3
RATE_FURTHER: Final = 0.5  # of both, where a trained model learns on
DROPOUT: Final = 0.1
SMOOTHING: Final = 0.05
LENGTH_STEP: Final = 8  # tokens: batches have few lengths, so that few programs are compiled
FAR: Final = -1e9


Trained = tuple[list[Layer], Layer]


class Example(NamedTuple):
    """A pair of texts. One of `classes` is right; which of them is not known where there are several."""

    first: str
    second: str
    classes: tuple[int, ...]
    weight: float = 1.0


class Batch(NamedTuple):
    """Rows that pad the batch weigh nothing. `possible` is 1 for classes that may be right, shape (pairs, classes)."""

    ids: NDArray[np.int32]
    segments: NDArray[np.int32]
    mask: NDArray[np.float32]
    possible: NDArray[np.float32]
    weights: NDArray[np.float32]


class Batches:
    """Pairs of similar length in each batch."""

    def __init__(self, tokenizer: Path, examples: Sequence[Example], classes: int) -> None:
        self._examples = examples
        self._classes = classes
        texts = [without_stops((each.first, each.second)) for each in examples]
        self._encoded = pair_tokenizer(tokenizer).encode_batch(texts)

    def shuffled(self, chance: random.Random) -> Iterator[Batch]:
        order = chance.sample(range(len(self._examples)), len(self._examples))
        batches = list(self._of(order))
        chance.shuffle(batches)
        yield from batches

    def _of(self, order: Sequence[int]) -> Iterator[Batch]:
        window = 50 * BATCH
        for start in range(0, len(order), window):
            near = sorted(order[start : start + window], key=lambda at: len(self._encoded[at].ids))
            for begin in range(0, len(near), BATCH):
                yield self._batch(near[begin : begin + BATCH])

    def _batch(self, rows: list[int]) -> Batch:
        longest = max(len(self._encoded[at].ids) for at in rows)
        shape = BATCH, -(-longest // LENGTH_STEP) * LENGTH_STEP
        ids, segments = np.zeros((2, *shape), np.int32)
        mask = np.zeros(shape, np.float32)
        mask[:, 0] = 1
        possible, weights = np.zeros((BATCH, self._classes), np.float32), np.zeros(BATCH, np.float32)
        possible[:, 0] = 1
        for place, at in enumerate(rows):
            encoded, example = self._encoded[at], self._examples[at]
            length = len(encoded.ids)
            ids[place, :length], segments[place, :length], mask[place, :length] = encoded.ids, encoded.type_ids, 1
            possible[place] = np.isin(np.arange(self._classes), example.classes)
            weights[place] = example.weight
        return Batch(ids, segments, mask, possible, weights)


class Training:
    """The trained part, and the parts that stay as packaged."""

    def __init__(self, base: Base, classes: int, steps: int, seed: int, start: Trained | None) -> None:
        embeddings, layers = jax.tree.map(jnp.asarray, (base.embeddings, list(base.layers)))
        self._key = jax.random.PRNGKey(seed)
        trained, head = start or (layers[base.frozen :], cross_encoder.new_head(self._key, classes))
        self.state: Any = jax.tree.map(jnp.asarray, {"layers": list(trained), "head": dict(head)})
        most = 1.0 if start is None else RATE_FURTHER
        course = optax.warmup_cosine_decay_schedule(0.0, most, steps // 10, steps, 0.02 * most)
        labels = jax.tree.map(lambda _: "layers", self.state) | {"head": dict.fromkeys(self.state["head"], "head")}
        self._optimiser = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.multi_transform(
                {
                    "layers": optax.adamw(lambda step: RATE * course(step), weight_decay=0.01),
                    "head": optax.adamw(lambda step: RATE_OF_HEAD * course(step), weight_decay=0.01),
                },
                labels,
            ),
        )
        self._moments = self._optimiser.init(self.state)
        self._lower = jax.jit(
            lambda batch: cross_encoder.lower(embeddings, layers[: base.frozen], batch.ids, batch.segments, batch.mask)
        )
        self._step = jax.jit(self._stepped)

    def step(self, batch: Batch) -> float:
        """The loss before the step."""
        self._key, own = jax.random.split(self._key)
        inputs = self._lower(batch), batch.mask, batch.possible, batch.weights, own
        self.state, self._moments, loss = self._step(self.state, self._moments, *inputs)
        return float(loss)

    def _stepped(self, state: Any, moments: Any, x: Any, mask: Any, possible: Any, weights: Any, key: Any) -> Any:
        def loss(trained: Any) -> Any:
            logits = cross_encoder.scores(trained["layers"], trained["head"], x, mask, key, DROPOUT)
            logs = jax.nn.log_softmax(logits)
            right = jax.nn.logsumexp(jnp.where(possible > 0, logs, FAR), axis=-1)
            smoothed = (1 - SMOOTHING) * right + SMOOTHING * logs.mean(-1)
            return -(smoothed * weights).sum() / weights.sum()

        value, slopes = jax.value_and_grad(loss)(state)
        updates, moments = self._optimiser.update(slopes, moments, state)
        return optax.apply_updates(state, updates), moments, value


def by_threshold(wanted: NDArray[np.bool_], probability: NDArray[Any], thresholds: Sequence[float]) -> dict[str, Any]:
    """Precision and recall of what has at least each probability."""
    figures = {}
    for least in thresholds:
        found = probability >= least
        right = int((found & wanted).sum())
        figures[str(least)] = {
            "precision": round(right / max(1, int(found.sum())), 3),
            "recall": round(right / max(1, int(wanted.sum())), 3),
        }
    return figures


def packaged(graph: Path, base: Base) -> Trained:
    """The trained layers and the head of a graph that was written."""
    stored = {
        each.name: numpy_helper.to_array(each)
        for each in onnx.load(graph, load_external_data=False).graph.initializer
        if not each.external_data
    }
    layers: list[Layer] = [
        {part: stored[f"layer.{number}.{part}_q"] * stored[f"layer.{number}.{part}_scale"] for part in DENSE}
        | {part: stored[f"inner.encoder.layer.{number}.{name}"] for part, name in BIASES.items()}
        for number in range(base.frozen, len(base.layers))
    ]
    return layers, {"weight": stored["head"], "bias": stored["head_bias"]}


def trained(
    base: Base, examples: Sequence[Example], classes: int, epochs: int, seed: int, start: Trained | None = None
) -> Trained:
    """The last layers and the head, which begin as those of `start`. The same examples and seed give the same weights on one
    machine."""
    chance = random.Random(seed)
    batches = Batches(base.tokenizer, examples, classes)
    training = Training(base, classes, epochs * -(-len(examples) // BATCH), seed, start)
    for epoch in range(epochs):
        began = time.monotonic()
        losses = [training.step(batch) for batch in batches.shuffled(chance)]
        sys.stderr.write(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.monotonic() - began:.0f} s\n")
    layers, head = jax.tree.map(np.asarray, (training.state["layers"], training.state["head"]))
    return layers, head
