"""Trains the last layers of e5-small-v2 to embed questions near the messages that answer them. The vectors of messages stay as
they are, so that stored ones remain valid.

Loss: for each message that answers a question, the cross entropy of its cosine against those of the messages that do not (InfoNCE
with several positives), plus the distance of the question's vector to that of the untrained model.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple, TypeVar

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
RATE: Final = 5e-5  # also of training_messages.py, where it was not tuned, as a training takes an hour
TEMPERATURE: Final = 0.02
NEAR_UNTRAINED: Final = 5.0  # weight of the distance to the untrained vector
DROPOUT: Final = 0.1
MOST_TOKENS: Final = 64
LENGTH_STEP: Final = 8  # tokens: batches have few lengths, so that few programs are compiled
FAR: Final = -1e9

Array = NDArray[np.float32]
B = TypeVar("B")


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
        for chats in groups(chance.sample(sorted(of_chats), len(of_chats)), self._vectors, MESSAGES):
            questions = [each for chat in chats for each in of_chats[chat]]
            chance.shuffle(questions)
            batches += [
                self._batch(chats, questions[start : start + BATCH]) for start in range(0, len(questions), BATCH)
            ]
        chance.shuffle(batches)
        return batches

    def _batch(self, chats: Sequence[int], questions: Sequence[Question]) -> Batch:
        ends = accumulate((len(self._vectors[chat]) for chat in chats), initial=0)
        columns = {chat: range(start, end) for chat, (start, end) in zip(chats, pairwise(ends), strict=True)}
        said = np.concatenate([self._vectors[chat] for chat in chats])
        messages = np.zeros((MESSAGES, E5_SMALL.dimension), np.float32)
        messages[: len(said)] = said
        answers, compared = targets(questions, columns, (BATCH, MESSAGES))
        weights = (np.arange(BATCH) < len(questions)).astype(np.float32)
        texts = [E5_SMALL.before_question + each.text for each in questions]
        texts += [E5_SMALL.before_question] * (BATCH - len(texts))
        return Batch(*padded(self._tokenizer.encode_batch(texts)), messages, answers, compared, weights)


def groups(chats: Sequence[int], messages: Sequence[Sized], most: int) -> Iterator[list[int]]:
    """Chats with at most `most` messages together. `messages` are those of all chats."""
    group, count = list[int](), 0
    for chat in chats:
        size = len(messages[chat])
        if group and count + size > most:
            yield group
            group, count = [], 0
        group.append(chat)
        count += size
    yield group


def targets(
    questions: Sequence[Question], columns: Mapping[int, Sequence[int]], shape: tuple[int, int]
) -> tuple[Array, Array]:
    """`answers` and `compared` of a batch. `columns` are those of the messages of each of its chats."""
    count = sum(len(each) for each in columns.values())
    answers, compared = np.zeros((2, *shape), np.float32)
    for row, each in enumerate(questions):
        own = columns[each.chat]
        answers[row, [own[place] for place in each.answers]] = 1
        compared[row, range(count) if each.among is None else [own[place] for place in each.among]] = 1
    return answers, compared


def info_nce(found: Any, messages: Any, answers: Any, compared: Any) -> Any:
    """The loss of each question's vector `found`, without its distance to another vector, shape (questions,)."""
    scores = jnp.where(answers + compared > 0, found @ messages.T / TEMPERATURE, FAR)
    others = jax.nn.logsumexp(jnp.where(answers > 0, FAR, scores), axis=-1, keepdims=True)
    logs = (scores - jnp.logaddexp(scores, others)) * answers
    return -logs.sum(-1) / jnp.maximum(answers.sum(-1), 1)


def vectors(layers: Sequence[Any], x: Any, mask: Any, key: Any = None) -> Any:
    """Shape (questions, dim). With a `key`, a share of DROPOUT is dropped out, for training."""
    keys = [None] * len(layers) if key is None else list(jax.random.split(key, len(layers)))
    for each, own in zip(layers, keys, strict=True):
        x = cross_encoder.layer(each, x, mask, own, DROPOUT)
    return pooled(x, mask)


def loss_of(layers: Any, x: Any, untrained: Any, batch: Batch, key: Any) -> Any:
    found = vectors(layers, x, batch.mask, key)
    missed = info_nce(found, batch.messages, batch.answers, batch.compared)
    away = 1 - (found * untrained).sum(-1)
    return ((missed + NEAR_UNTRAINED * away) * batch.weights).sum() / batch.weights.sum()


class Descent:
    """Trains `layers` by the gradient of `loss(layers, *inputs, key)`. The key draws the dropout."""

    def __init__(self, layers: Any, loss: Callable[..., Any], steps: int, seed: int) -> None:
        self.layers, self._loss, self._key = layers, loss, jax.random.PRNGKey(seed)
        course = optax.warmup_cosine_decay_schedule(0.0, RATE, max(1, steps // 10), steps, 0.05 * RATE)
        self._optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(course, weight_decay=0.01))
        self._moments = self._optimiser.init(layers)
        self._step = jax.jit(self._stepped)

    def step(self, *inputs: Any) -> float:
        """The loss before the step."""
        self._key, own = jax.random.split(self._key)
        self.layers, self._moments, loss = self._step(self.layers, self._moments, *inputs, own)
        return float(loss)

    def _stepped(self, layers: Any, moments: Any, *inputs: Any) -> Any:
        loss, slopes = jax.value_and_grad(self._loss)(layers, *inputs)
        updates, moments = self._optimiser.update(slopes, moments, layers)
        return optax.apply_updates(layers, updates), moments, loss


def run_epochs(epochs: int, batches: Callable[[], Iterable[B]], step: Callable[[B], float]) -> None:
    """`step` returns the loss of a batch."""
    for epoch in range(epochs):
        began = time.monotonic()
        losses = [step(batch) for batch in batches()]
        sys.stderr.write(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.monotonic() - began:.0f} s\n")


def trained(
    stored: StoredModel, messages: Sequence[Array], questions: Sequence[Question], epochs: int, seed: int
) -> list[Layer]:
    """The last layers. The same questions and seed give the same weights on one machine."""
    chance = random.Random(seed)
    batches = Batches(stored.files.tokenizer, messages, questions)
    embeddings, layers = jax.tree.map(jnp.asarray, (stored.embeddings(), stored.layers()))
    descent = Descent(layers[FROZEN:], loss_of, epochs * len(batches.shuffled(random.Random(0))), seed)

    @jax.jit
    def lower(ids: Any, mask: Any) -> tuple[Any, Any]:
        x = cross_encoder.lower(embeddings, layers[:FROZEN], ids, jnp.zeros_like(ids), mask)
        return x, vectors(layers[FROZEN:], x, mask)

    def step(batch: Batch) -> float:
        return descent.step(*lower(batch.ids, batch.mask), batch)

    run_epochs(epochs, lambda: batches.shuffled(chance), step)
    return [jax.tree.map(np.asarray, layer) for layer in descent.layers]
