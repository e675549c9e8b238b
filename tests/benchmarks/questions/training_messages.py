"""Trains the last layers of two copies of e5-small-v2 together: the encoder of questions, which already has trained layers, and
an encoder of messages.

Loss: for each message that answers a question, the cross entropy of its cosine against those of the messages that do not (InfoNCE
with several positives), plus the distances of all vectors to those before the training. The layers that stay as they are run once
for each text.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from tokenizers import Tokenizer

from sinks.embeddings.models import E5_SMALL
from tests.benchmarks.classification import cross_encoder
from tests.benchmarks.classification.classifier_graph import Layer
from tests.benchmarks.questions.e5_model import Array, StoredModel
from tests.benchmarks.questions.training import (
    Descent,
    Question,
    groups,
    info_nce,
    padded,
    run_epochs,
    targets,
    vectors,
)

TRAINED: Final = 4  # the last layers of each encoder
MESSAGE_TOKENS: Final = 80
QUESTION_TOKENS: Final = 24
# Rows and tokens of a batch's messages by length: the longest 32 keep 80 tokens, the next 64 keep 40, the others 24.
SHAPES: Final = ((32, 80), (64, 40), (160, 24))
MESSAGES: Final = sum(rows for rows, _ in SHAPES)
QUESTIONS: Final = 128
BATCHES_PER_GROUP: Final = 2  # at most, so that chats with few messages and many questions count no more than others
# Weights of the distances of questions and messages to their vectors before. Chosen without tuning, as a training takes an hour.
NEAR_BEFORE: Final = (1.0, 2.0)
EMBEDDED_AT_ONCE: Final = 64

Half: TypeAlias = NDArray[np.float16]


class Encoded(Struct, frozen=True):
    """Texts after the layers that stay as they are, each of shape (tokens, width), and their vectors before the training."""

    states: list[Half]
    vectors: Array


class States(NamedTuple):
    """Of several texts: shape (texts, tokens, width), and the mask of tokens."""

    states: Array
    mask: Array


class Batch(NamedTuple):
    """`answers` and `compared` are 1 for messages that answer a question and for those that it is compared with, shape
    (questions, messages); `asked` and `said` are 1 for rows that are not padding. The vectors are those before the training."""

    messages: list[States]
    questions: States
    message_vectors: Array
    question_vectors: Array
    answers: Array
    compared: Array
    asked: Array
    said: Array


class Encoder:
    """A copy of the model, of which the last TRAINED layers are trained."""

    def __init__(self, stored: StoredModel, layers: Sequence[Layer]) -> None:
        embeddings, own = jax.tree.map(jnp.asarray, (stored.embeddings(), list(layers)))
        self._tokenizer = Tokenizer.from_buffer(stored.files.tokenizer)
        self._tokenizer.no_padding()
        self.last = own[-TRAINED:]
        self._lower = jax.jit(
            lambda ids, mask: cross_encoder.lower(embeddings, own[:-TRAINED], ids, jnp.zeros_like(ids), mask)
        )
        self._upper = jax.jit(vectors)

    def encoded(self, texts: Sequence[str], max_tokens: int) -> Encoded:
        self._tokenizer.enable_truncation(max_tokens)
        tokens = self._tokenizer.encode_batch(list(texts))
        states: list[Half] = [np.zeros((0, 0), np.float16)] * len(texts)
        made = np.zeros((len(texts), E5_SMALL.dimension), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(tokens[place].ids))
        for start in range(0, len(order), EMBEDDED_AT_ONCE):
            places = order[start : start + EMBEDDED_AT_ONCE]
            ids, mask = padded([tokens[place] for place in places])
            lower = self._lower(ids, mask)
            made[places] = np.asarray(self._upper(self.last, lower, mask))
            for place, row in zip(places, np.asarray(lower, np.float16), strict=True):
                states[place] = row[: len(tokens[place].ids)]
        return Encoded(states, made)


class Batches:
    """`chats` has the range of each chat's messages; `questions` are encoded as `asked`, and messages as `said`."""

    def __init__(self, chats: Sequence[range], questions: Sequence[Question], asked: Encoded, said: Encoded) -> None:
        self._chats, self._questions, self._asked, self._said = chats, questions, asked, said
        self._of_chats = defaultdict[int, list[int]](list)
        for number, question in enumerate(questions):
            self._of_chats[question.chat].append(number)

    def shuffled(self, chance: random.Random) -> Iterator[Batch]:
        """Without the chats of more than MESSAGES messages."""
        order = chance.sample(sorted(self._of_chats), len(self._of_chats))
        grouped = list(groups([chat for chat in order if len(self._chats[chat]) <= MESSAGES], self._chats, MESSAGES))
        chance.shuffle(grouped)
        for chats in grouped:
            questions = [number for chat in chats for number in self._of_chats[chat]]
            chance.shuffle(questions)
            for start in range(0, min(len(questions), BATCHES_PER_GROUP * QUESTIONS), QUESTIONS):
                yield self._batch(chats, questions[start : start + QUESTIONS])

    def _batch(self, chats: Sequence[int], questions: Sequence[int]) -> Batch:
        messages = sorted(
            (at for chat in chats for at in self._chats[chat]), key=lambda at: -len(self._said.states[at])
        )
        row_of = {at: row for row, at in enumerate(messages)}
        parts, start = list[States](), 0
        for rows, tokens in SHAPES:
            part = messages[start : start + rows]
            parts.append(stacked([self._said.states[at] for at in part], rows, tokens))
            start += rows
        columns = {chat: [row_of[at] for at in self._chats[chat]] for chat in chats}
        answers, compared = targets([self._questions[each] for each in questions], columns, (QUESTIONS, MESSAGES))
        return Batch(
            parts,
            stacked([self._asked.states[number] for number in questions], QUESTIONS, QUESTION_TOKENS),
            rows_of(self._said.vectors[messages], MESSAGES),
            rows_of(self._asked.vectors[list(questions)], QUESTIONS),
            answers,
            compared,
            (np.arange(QUESTIONS) < len(questions)).astype(np.float32),
            (np.arange(MESSAGES) < len(messages)).astype(np.float32),
        )


def stacked(states: Sequence[Half], rows: int, tokens: int) -> States:
    """Texts cut or padded to `tokens`. Padding rows have one token that is not zero, so that their vectors are finite."""
    both = np.zeros((rows, tokens, E5_SMALL.dimension), np.float32)
    mask = np.zeros((rows, tokens), np.float32)
    mask[len(states) :, 0] = 1
    for row, state in enumerate(states):
        length = min(len(state), tokens)
        both[row, :length], mask[row, :length] = state[:length], 1
    both[len(states) :, 0, 0] = 1
    return States(both, mask)


def rows_of(vectors_before: Array, rows: int) -> Array:
    made = np.zeros((rows, E5_SMALL.dimension), np.float32)
    made[: len(vectors_before)] = vectors_before
    return made


def loss_of(layers: Any, batch: Batch, key: Any) -> Any:
    """`layers` are those of questions and those of messages."""
    own, *keys = jax.random.split(key, 1 + len(batch.messages))
    found = vectors(layers[0], *batch.questions, own)
    said = jnp.concatenate([vectors(layers[1], *part, each) for part, each in zip(batch.messages, keys, strict=True)])
    missed = mean(info_nce(found, said, batch.answers, batch.compared), batch.asked)
    away = mean(1 - (found * batch.question_vectors).sum(-1), batch.asked)
    moved = mean(1 - (said * batch.message_vectors).sum(-1), batch.said)
    return missed + NEAR_BEFORE[0] * away + NEAR_BEFORE[1] * moved


def mean(values: Any, weights: Any) -> Any:
    return (values * weights).sum() / weights.sum()


def trained(
    encoders: tuple[Encoder, Encoder], batches: Batches, epochs: int, seed: int
) -> tuple[list[Layer], list[Layer]]:
    """The last layers of the encoder of questions and of that of messages. The same seed gives the same on one machine."""
    chance = random.Random(seed)
    steps = epochs * sum(1 for _ in batches.shuffled(random.Random(seed)))
    descent = Descent(tuple(encoder.last for encoder in encoders), loss_of, steps, seed)
    run_epochs(epochs, lambda: batches.shuffled(chance), descent.step)
    questions, messages = (jax.tree.map(np.asarray, list(each)) for each in descent.layers)
    return questions, messages
