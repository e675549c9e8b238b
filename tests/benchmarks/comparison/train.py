"""`make train-comparer`: trains what compares statements, writes its graph, and tells how well it does on statements that it
has not seen. The last line is one JSON object.

Trained are the last three layers of MiniLM and a head, with all pairs but the held-out ones. Pairs of different blocks, most of
which hold beside each other, are added with a smaller weight: most neighbours of a statement are such.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

import jax
import numpy as np
import optax
from numpy.typing import NDArray

from sinks.comparison.graph import RELATIONS, write
from sinks.comparison.onnx import GRAPH, OnnxComparer, pair_tokenizer, without_stops
from sinks.comparison.port import Pair
from tests.benchmarks.comparison import cross_encoder
from tests.benchmarks.comparison.pairs import (
    ENDS,
    HOLDS,
    OF_RULES,
    OTHER_LANGUAGES,
    SAME,
    Labelled,
    hash_of_files,
    of_rules,
    written,
)

FROZEN: Final = 3  # layers that stay as packaged
EPOCHS: Final = 3
BATCH: Final = 32
RATE: Final = 1e-4
RATE_OF_HEAD: Final = 1e-3
DROPOUT: Final = 0.1
SMOOTHING: Final = 0.05
WEIGHT_OF_ADDED: Final = 0.5
REVERSED_SHARE: Final = 0.15  # of the pairs that both hold
OTHER_SHARE: Final = 0.2  # pairs of different blocks, per pair
LENGTH_STEP: Final = 8  # tokens: batches have few lengths, so that few programs are compiled
THRESHOLDS: Final = (0.5, 0.7, 0.8, 0.9, 0.95)


class Batch(NamedTuple):
    """Rows that pad the batch weigh nothing."""

    ids: NDArray[np.int32]
    segments: NDArray[np.int32]
    mask: NDArray[np.float32]
    relations: NDArray[np.int32]
    weights: NDArray[np.float32]


def added(pairs: Sequence[Labelled], chance: random.Random) -> Iterator[Labelled]:
    """Pairs the other way round where the relation stays, and pairs of different blocks of a file."""
    own = [each for each in pairs if each.source not in OF_RULES]
    for each in own:
        if each.relation == SAME or (each.relation == HOLDS and chance.random() < REVERSED_SHARE):
            yield each._replace(earlier=each.later, later=each.earlier, weight=WEIGHT_OF_ADDED)
    for source in sorted({each.source for each in own}):
        of_file = [each for each in own if each.source == source]
        endings = [each for each in of_file if each.relation == ENDS]
        for _ in range(int(len(of_file) * OTHER_SHARE)):
            one, other = chance.choice(of_file), chance.choice(endings if chance.random() < 0.5 else of_file)
            if one.topic != other.topic:
                yield one._replace(later=other.later, relation=HOLDS, weight=WEIGHT_OF_ADDED)


class Batches:
    """Pairs of similar length in each batch."""

    def __init__(self, pairs: Sequence[Labelled]) -> None:
        self._pairs = pairs
        self._encoded = pair_tokenizer().encode_batch([without_stops(Pair(each.earlier, each.later)) for each in pairs])

    def shuffled(self, chance: random.Random) -> Iterator[Batch]:
        order = chance.sample(range(len(self._pairs)), len(self._pairs))
        batches = list(self.of(order))
        chance.shuffle(batches)
        yield from batches

    def of(self, order: Sequence[int]) -> Iterator[Batch]:
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
        relations, weights = np.zeros(BATCH, np.int32), np.zeros(BATCH, np.float32)
        for place, at in enumerate(rows):
            encoded = self._encoded[at]
            length = len(encoded.ids)
            ids[place, :length], segments[place, :length], mask[place, :length] = encoded.ids, encoded.type_ids, 1
            relations[place], weights[place] = self._pairs[at].relation, self._pairs[at].weight
        return Batch(ids, segments, mask, relations, weights)


class Training:
    """The trained part, and the parts that stay as packaged."""

    def __init__(self, steps: int, seed: int) -> None:
        embeddings, layers = cross_encoder.packaged()
        self._key = jax.random.PRNGKey(seed)
        self.state: Any = {"layers": layers[FROZEN:], "head": cross_encoder.new_head(self._key)}
        course = optax.warmup_cosine_decay_schedule(0.0, 1.0, steps // 10, steps, 0.02)
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
            lambda batch: cross_encoder.lower(embeddings, layers[:FROZEN], batch.ids, batch.segments, batch.mask)
        )
        self._step = jax.jit(self._stepped)

    def step(self, batch: Batch) -> float:
        """The loss before the step."""
        self._key, own = jax.random.split(self._key)
        inputs = self._lower(batch), batch.mask, batch.relations, batch.weights, own
        self.state, self._moments, loss = self._step(self.state, self._moments, *inputs)
        return float(loss)

    def _stepped(self, state: Any, moments: Any, x: Any, mask: Any, relations: Any, weights: Any, key: Any) -> Any:
        def loss(trained: Any) -> Any:
            logits = cross_encoder.scores(trained["layers"], trained["head"], x, mask, key, DROPOUT)
            wanted = optax.smooth_labels(jax.nn.one_hot(relations, RELATIONS), SMOOTHING)
            return (optax.softmax_cross_entropy(logits, wanted) * weights).sum() / weights.sum()

        value, slopes = jax.value_and_grad(loss)(state)
        updates, moments = self._optimiser.update(slopes, moments, state)
        return optax.apply_updates(state, updates), moments, value


async def measured(pairs: Sequence[Labelled]) -> dict[str, Any]:
    """What the written file finds: precision and recall of endings by threshold, and the share of relations that are right."""
    with closing(OnnxComparer()) as comparer:
        found = np.array(await comparer.compare([Pair(each.earlier, each.later) for each in pairs]))
    relations = np.array([each.relation for each in pairs])
    ends = relations == ENDS
    by_threshold = {}
    for least in THRESHOLDS:
        told = found[:, ENDS] >= least
        right = int((told & ends).sum())
        by_threshold[str(least)] = {
            "precision": round(right / max(1, int(told.sum())), 3),
            "recall": round(right / max(1, int(ends.sum())), 3),
        }
    share = float((found.argmax(axis=1) == relations).mean())
    return {"pairs": len(pairs), "endings": int(ends.sum()), "right": round(share, 3), "ends": by_threshold}


def trained(pairs: Sequence[Labelled], seed: int) -> Training:
    chance = random.Random(seed)
    learnt = [*pairs, *added(pairs, chance)]
    batches = Batches(learnt)
    training = Training(EPOCHS * -(-len(learnt) // BATCH), seed)
    for epoch in range(EPOCHS):
        began = time.monotonic()
        losses = [training.step(batch) for batch in batches.shuffled(chance)]
        sys.stderr.write(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.monotonic() - began:.0f} s\n")
    return training


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="train-comparer", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only-measure", action="store_true", help="leave the model as it is")
    options = parser.parse_args(argv)
    own, rules = list(written()), list(of_rules())
    learnt = [each for each in (*own, *rules) if not each.is_held_out]
    if not options.only_measure:
        state = trained(learnt, options.seed).state
        layers, head = jax.tree.map(np.asarray, (state["layers"], state["head"]))
        write(GRAPH, layers, head, hash_of_files())
    unseen = [each for each in own if each.is_held_out]
    english = [each for each in unseen if each.source not in OTHER_LANGUAGES]
    others = [each for each in unseen if each.source in OTHER_LANGUAGES]
    told = {
        "trained_on": len(learnt),
        "unseen": {"english": asyncio.run(measured(english)), "others": asyncio.run(measured(others))},
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
