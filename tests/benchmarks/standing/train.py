"""`make train-standing`: trains the classifier of limits and standing wishes and measures it on unseen topics.

Positives are the sentences of this folder. Negatives are those too, and the tuning halves of the public conversations
(`offline_sets`) whose licences let others use what is learnt from them, without what the rules take for a limit or for something
of health: they are not labelled, and some are limits.
"""

import argparse
import base64
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

from agents.models.offline.own_statements import own_statements
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.rule_engine import LEADING, normalised
from agents.models.offline.rules.findings.sentence_findings import labels, rule_findings
from agents.models.offline.rules.framing.framing import is_unreal, own_part
from agents.models.offline.rules.lasting_instructions.classifier import (
    DIMENSION,
    FILE,
    MEMORY_LABELS,
    Model,
    features,
    indices,
)
from agents.models.offline.rules.lasting_instructions.instruction_classes import TABLE
from agents.models.offline.rules.lasting_instructions.wording import SUBJECTS
from agents.models.offline.statements import LANGUAGE_RULES, language_rules, safe_sentences
from tests.benchmarks.offline_sets import UNDATED, held_out, present
from tests.benchmarks.standing.sentences import Sentence, files, sentences

SETS: Final = frozenset({"personas", "personas_fr", "synthetic_personas", "companion"})
FOLDS: Final = 5
RIDGE: Final = 1e-5
WEIGHT_OF_PUBLIC: Final = 1.0
STEPS_OF_DESCENT: Final = 300
RATE: Final = 0.3
POSSIBLE: Final = frozenset({"constraint", "directive", "health", "allergy", "diet"})
THRESHOLDS: Final = (0.3, 0.5, 0.7, 0.8)
MAX_WEIGHT: Final = 127  # a weight is a signed byte
Array = NDArray[np.float64]


class Row(NamedTuple):
    places: NDArray[np.int64]
    target: int
    weight: float
    topic: str


class Rows:
    """Features of sentences as a sparse matrix, each row of length 1."""

    def __init__(self, rows: Sequence[Row]) -> None:
        lengths = np.array([len(each.places) for each in rows])
        self._count = len(rows)
        self._row = np.repeat(np.arange(len(rows)), lengths)
        self._column = np.concatenate([each.places for each in rows])
        self._value = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths)

    def times(self, weights: Array) -> Array:
        given = ((self._value * weights[self._column, k]) for k in range(weights.shape[1]))
        return np.stack([np.bincount(self._row, each, self._count) for each in given], axis=1)

    def back(self, slopes: Array) -> Array:
        given = ((self._value * slopes[self._row, k]) for k in range(slopes.shape[1]))
        return np.stack([np.bincount(self._column, each, DIMENSION) for each in given], axis=1)


def probabilities(rows: Rows, weights: Array, bias: Array) -> Array:
    """`(n, 3)`: of neither, a limit, a wish."""
    odds = np.exp(rows.times(weights) + bias)
    each = np.concatenate([np.ones((len(odds), 1)), odds], axis=1)
    return np.asarray(each / each.sum(axis=1, keepdims=True))


def trained(rows: Sequence[Row]) -> tuple[Array, Array]:
    """Weights `(DIMENSION, 2)` and bias by logistic regression with a ridge; full batches by Adam, so each run is the same."""
    matrix, weights, bias = Rows(rows), np.zeros((DIMENSION, 2)), np.full(2, -2.0)
    target = np.eye(3)[[each.target for each in rows]][:, 1:]
    share = np.array([each.weight for each in rows])
    share /= share.sum()
    first: list[Array] = [np.zeros_like(weights), np.zeros_like(bias)]
    second: list[Array] = [np.zeros_like(weights), np.zeros_like(bias)]
    for step in range(1, STEPS_OF_DESCENT + 1):
        slopes = (probabilities(matrix, weights, bias)[:, 1:] - target) * share[:, None]
        rate = RATE * (1 - step / (STEPS_OF_DESCENT + 1))
        for at, (of, slope) in enumerate(
            ((weights, matrix.back(slopes) + RIDGE * weights), (bias, slopes.sum(axis=0)))
        ):
            first[at] = 0.9 * first[at] + 0.1 * slope
            second[at] = 0.999 * second[at] + 0.001 * slope**2
            of -= rate * first[at] / (1 - 0.9**step) / (np.sqrt(second[at] / (1 - 0.999**step)) + 1e-8)
    return weights, bias


def row(text: str, code: str, found: Sequence[str], target: int, weight: float, topic: str) -> Row:
    places = np.array(sorted(indices(features(text, code, found))), dtype=np.int64)
    return Row(places, target, weight, topic)


def own_rows(each: Sentence) -> Iterator[Row]:
    """Returns the rows of a sentence: as said, and in the words of a memory."""
    tongue = LANGUAGE_RULES[each.language]
    if each.is_memory:
        yield row(each.text, each.language, MEMORY_LABELS, each.place, 1.0, each.topic)
        return
    plain, found = understood(tongue, each.text)
    yield row(plain, each.language, found, each.place, 1.0, each.topic)
    reworded = tongue.reword(plain)
    if reworded.startswith(SUBJECTS):
        yield row(reworded, each.language, MEMORY_LABELS, each.place, 1.0, each.topic)


def understood(tongue: LanguageRules, sentence: str) -> tuple[str, list[str]]:
    """The sentence as the classifier is given it, and what the rules find in it."""
    found = [] if is_unreal(sentence) else list(rule_findings(tongue, sentence, UNDATED))
    return LEADING.sub("", normalised(tongue, sentence)), labels(found)


def public_rows() -> Iterator[Row]:
    """Sentences of public conversations, of the half that is tuned on, that are hardly a limit or a wish."""
    tuned = ((each, talk) for each in present() if each.name in SETS for talk in each.talks if not held_out(talk.name))
    for each, talk in tuned:
        for content in own_statements(talk.messages).values():
            own = own_part(content)
            tongue = language_rules(own, each.language)
            if tongue is None:
                continue
            for sentence in safe_sentences(own):
                plain, found = understood(tongue, sentence)
                if POSSIBLE.isdisjoint(found):
                    yield row(plain, tongue.code, found, 0, WEIGHT_OF_PUBLIC, talk.name)


def cross_validated(own: Sequence[Row], negatives: Sequence[Row]) -> dict[str, Any]:
    """Precision and recall on topics that were left out in training, by threshold."""
    fold = np.array([crc32(each.topic.encode()) % FOLDS for each in own])
    scored = np.zeros(len(own))
    for number in range(FOLDS):
        learnt = [each for each, at in zip(own, fold, strict=True) if at != number]
        held_out = [each for each, at in zip(own, fold, strict=True) if at == number]
        scored[fold == number] = 1 - probabilities(Rows(held_out), *trained([*learnt, *negatives]))[:, 0]
    is_one = np.array([each.target > 0 for each in own])
    return {
        str(least): {
            "precision": round(float((is_one & (scored >= least)).sum() / max(1, (scored >= least).sum())), 3),
            "recall": round(float((is_one & (scored >= least)).sum() / is_one.sum()), 3),
        }
        for least in THRESHOLDS
    }


def quantised(weights: Array, bias: Array) -> Model:
    scale = float(np.abs(weights).max()) / MAX_WEIGHT
    steps = np.round(weights / scale).astype(np.int8)
    trained_on = hash_of(path.read_bytes() for path in files())
    return Model(trained_on, scale, (float(bias[0]), float(bias[1])), steps.T.tobytes())


def hash_of(sentences: Iterable[bytes]) -> str:
    """The hash of the training sentences and of the classes of words."""
    return hashlib.sha256(b"\0".join((TABLE.read_bytes(), *sentences))).hexdigest()


def encoded(made: Model) -> bytes:
    named = msgspec.structs.asdict(made) | {"weights": base64.b64encode(made.weights).decode()}
    return msgspec.json.format(msgspec.json.encode(named)) + b"\n"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="train-standing", description=__doc__)
    parser.add_argument("--only-measure", action="store_true", help="leave the weights as they are")
    options = parser.parse_args(argv)
    own = [each for sentence in sentences() for each in own_rows(sentence)]
    public = list(public_rows())
    if not public:
        sys.stderr.write("no public conversations: MEMSTREAM_SHARED_DATA names none (tests/benchmarks/README.md)\n")
        return 1
    if not options.only_measure:
        FILE.write_bytes(encoded(quantised(*trained([*own, *public]))))
    report = {"sentences": len(own), "public": len(public), "unseen_topics": cross_validated(own, public)}
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
