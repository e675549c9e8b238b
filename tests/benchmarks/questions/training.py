"""Trains the last layers of e5-small-v2 to embed questions near the messages that answer them. The vectors of messages stay as
they are, so that stored ones remain valid.

Loss: for each message that answers a question, the cross entropy of its cosine against those of the messages that do not (InfoNCE
with several positives), plus the distance of the question's vector to that of the untrained model.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from sinks.embeddings.models import E5_SMALL
from tests.benchmarks.classification import cross_encoder
from tests.benchmarks.classification.classifier_graph import Layer
from tests.benchmarks.questions.e5_model import StoredModel

FROZEN: Final = 6  # the first layers, which stay as they are
BATCH: Final = 32  # questions
MESSAGES: Final = 1024  # at most, of the chats that the questions of a batch are about
RATE: Final = 5e-5
TEMPERATURE: Final = 0.02
NEAR_UNTRAINED: Final = 5.0  # weight of the distance to the untrained vector
DROPOUT: Final = 0.1
MOST_TOKENS: Final = 64
LENGTH_STEP: Final = 8  # tokens: batches have few lengths, so that few programs are compiled
FAR: Final = -1e9

Array = NDArray[np.float32]


class Question(NamedTuple):
    """`answers` are the places of the messages of its chat that answer it. It is compared with the messages `among`, or, where
    that is None, with those of all chats of the batch."""

    text: str
    chat: int
    answers: Sequence[int]
    among: Sequence[int] | None


class Batch(NamedTuple):
    """`answers` and `compared` are 1 for messages that answer a question and for those that it is compared with, shape
    (questions, messages). Rows that pad the batch weigh nothing."""

    ids: NDArray[np.int32]
    mask: Array
    messages: Array
    answers: Array
    compared: Array
    weights: Array


def pooled(x: Any, mask: Any) -> Any:
    """Mean of the tokens, of length one."""
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)


def padded(encoded: Sequence[Encoding]) -> tuple[NDArray[np.int32], Array]:
    longest = max(len(each.ids) for each in encoded)
    shape = len(encoded), -(-longest // LENGTH_STEP) * LENGTH_STEP
    ids, mask = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    for row, each in enumerate(encoded):
        ids[row, : len(each.ids)], mask[row, : len(each.ids)] = each.ids, 1
    return ids, mask


class Batches:
    """`vectors` are those of each chat's messages, shape (messages, dim)."""

    def __init__(self, tokenizer: bytes, vectors: Sequence[Array], questions: Sequence[Question]) -> None:
        self._tokenizer = Tokenizer.from_buffer(tokenizer)
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.no_padding()
        self._vectors, self._questions = vectors, questions

    def shuffled(self, chance: random.Random) -> list[Batch]:
        of_chats = defaultdict[int, list[Question]](list)
        for each in self._questions:
            of_chats[each.chat].append(each)
        batches = list[Batch]()
        for chats in self._groups(chance.sample(sorted(of_chats), len(of_chats))):
            questions = [each for chat in chats for each in of_chats[chat]]
            chance.shuffle(questions)
            batches += [
                self._batch(chats, questions[start : start + BATCH]) for start in range(0, len(questions), BATCH)
            ]
        chance.shuffle(batches)
        return batches

    def _groups(self, chats: Sequence[int]) -> Iterator[list[int]]:
        """Chats with at most MESSAGES messages together."""
        group, count = list[int](), 0
        for chat in chats:
            size = len(self._vectors[chat])
            if group and count + size > MESSAGES:
                yield group
                group, count = [], 0
            group.append(chat)
            count += size
        yield group

    def _batch(self, chats: Sequence[int], questions: Sequence[Question]) -> Batch:
        starts = dict(zip(chats, np.cumsum([0, *(len(self._vectors[chat]) for chat in chats)]).tolist(), strict=False))
        count = sum(len(self._vectors[chat]) for chat in chats)
        messages = np.zeros((MESSAGES, E5_SMALL.dimension), np.float32)
        messages[:count] = np.concatenate([self._vectors[chat] for chat in chats])
        answers, compared = np.zeros((2, BATCH, MESSAGES), np.float32)
        weights = np.zeros(BATCH, np.float32)
        for row, each in enumerate(questions):
            start = starts[each.chat]
            answers[row, [start + place for place in each.answers]] = 1
            compared[row, range(count) if each.among is None else [start + place for place in each.among]] = 1
            weights[row] = 1
        texts = [E5_SMALL.before_question + each.text for each in questions]
        texts += [E5_SMALL.before_question] * (BATCH - len(texts))
        return Batch(*padded(self._tokenizer.encode_batch(texts)), messages, answers, compared, weights)


class Training:
    """The trained layers, and those that stay as they are."""

    def __init__(self, stored: StoredModel, steps: int, seed: int) -> None:
        embeddings, layers = jax.tree.map(jnp.asarray, (stored.embeddings(), stored.layers()))
        self._key = jax.random.PRNGKey(seed)
        self.layers: Any = layers[FROZEN:]
        course = optax.warmup_cosine_decay_schedule(0.0, RATE, max(1, steps // 10), steps, 0.05 * RATE)
        self._optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(course, weight_decay=0.01))
        self._moments = self._optimiser.init(self.layers)

        def lower(ids: Any, mask: Any) -> tuple[Any, Any]:
            x = cross_encoder.lower(embeddings, layers[:FROZEN], ids, jnp.zeros_like(ids), mask)
            return x, vectors(layers[FROZEN:], x, mask)

        self._lower = jax.jit(lower)
        self._step = jax.jit(self._stepped)

    def step(self, batch: Batch) -> float:
        """The loss before the step."""
        self._key, own = jax.random.split(self._key)
        x, untrained = self._lower(batch.ids, batch.mask)
        self.layers, self._moments, loss = self._step(self.layers, self._moments, x, untrained, batch, own)
        return float(loss)

    def _stepped(self, layers: Any, moments: Any, x: Any, untrained: Any, batch: Batch, key: Any) -> Any:
        def loss(trained: Any) -> Any:
            found = vectors(trained, x, batch.mask, key)
            scores = jnp.where(batch.answers + batch.compared > 0, found @ batch.messages.T / TEMPERATURE, FAR)
            others = jax.nn.logsumexp(jnp.where(batch.answers > 0, FAR, scores), axis=-1, keepdims=True)
            logs = (scores - jnp.logaddexp(scores, others)) * batch.answers
            missed = -logs.sum(-1) / jnp.maximum(batch.answers.sum(-1), 1)
            away = 1 - (found * untrained).sum(-1)
            return ((missed + NEAR_UNTRAINED * away) * batch.weights).sum() / batch.weights.sum()

        value, slopes = jax.value_and_grad(loss)(layers)
        updates, moments = self._optimiser.update(slopes, moments, layers)
        return optax.apply_updates(layers, updates), moments, value


def vectors(layers: Sequence[Any], x: Any, mask: Any, key: Any = None) -> Any:
    """Shape (questions, dim). With a `key`, a share of DROPOUT is dropped out, for training."""
    keys = [None] * len(layers) if key is None else list(jax.random.split(key, len(layers)))
    for each, own in zip(layers, keys, strict=True):
        x = cross_encoder.layer(each, x, mask, own, DROPOUT)
    return pooled(x, mask)


def trained(
    stored: StoredModel, messages: Sequence[Array], questions: Sequence[Question], epochs: int, seed: int
) -> list[Layer]:
    """The last layers. The same questions and seed give the same weights on one machine."""
    chance = random.Random(seed)
    batches = Batches(stored.files.tokenizer, messages, questions)
    training = Training(stored, epochs * len(batches.shuffled(random.Random(0))), seed)
    for epoch in range(epochs):
        began = time.monotonic()
        losses = [training.step(batch) for batch in batches.shuffled(chance)]
        sys.stderr.write(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.monotonic() - began:.0f} s\n")
    return [jax.tree.map(np.asarray, layer) for layer in training.layers]
