"""`make train-wishes`: trains the classifier of wishes to forget and measures it by cross-validation.

It is trained on the sentences of this folder, half of them tempting ones that are no wishes, and on further ones that are none:
those of `standing`, and of the same public conversations.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np

from agents.models.offline.guessed_wishes import scores
from agents.models.offline.rules.engine.linear_model import LinearModel, indices
from agents.models.offline.rules.wishes.classifier import (
    CLASSES,
    DIMENSION,
    FILE,
    classes_of,
    features,
    is_near,
    probability_by,
    words_of,
)
from agents.models.offline.statements import safe_sentences
from tests.benchmarks.offline_sets import held_out, present
from tests.benchmarks.standing import sentences as standing
from tests.benchmarks.standing.regression import Row, encoded, quantised, trained
from tests.benchmarks.standing.sentences import Sentence
from tests.benchmarks.standing.train import SETS

FOLDER: Final = Path(__file__).with_name("labelled")
FOLDS: Final = 5
RIDGE: Final = 3e-6
WEIGHT_OF_STANDING: Final = 0.1  # they are less tempting
WEIGHT_OF_PUBLIC: Final = 0.3
SHARE: Final = 11  # one of so many public sentences without words of a wish
THRESHOLDS: Final = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95)


def labelled() -> list[Sentence]:
    return list(standing.sentences(FOLDER))


def row(text: str, target: int, weight: float) -> Row:
    return Row(np.array(sorted(indices(features(text), DIMENSION)), dtype=np.int64), target, weight, "")


def own_rows(sentences: Sequence[Sentence]) -> list[Row]:
    return [row(each.text, int(each.label == "wish"), 1.0) for each in sentences]


def standing_rows() -> list[Row]:
    return [row(each.text, 0, WEIGHT_OF_STANDING) for each in standing.sentences() if not each.is_memory]


def public_rows() -> list[Row]:
    """Sentences of public conversations, of the half that is tuned on: those with words that a wish has, and a few others."""
    tuned = (talk for each in present() if each.name in SETS for talk in each.talks if not held_out(talk.name))
    texts = dict.fromkeys(text for talk in tuned for each in talk.messages for text in safe_sentences(each.content))
    return [row(each, 0, WEIGHT_OF_PUBLIC) for each in texts if is_tempting(each) or crc32(each.encode()) % SHARE == 0]


def is_tempting(text: str) -> bool:
    return is_near(frozenset(name for word in words_of(text) for name in classes_of(word)))


def model_of(rows: Sequence[Row]) -> LinearModel:
    return quantised(*trained(rows, 1, DIMENSION, RIDGE), hash_of_data())


def hash_of_data() -> str:
    """The hash of the training sentences and of the classes of words."""
    files = (CLASSES, *standing.files(FOLDER), *standing.files())
    return hashlib.sha256(b"\0".join(each.read_bytes() for each in files)).hexdigest()


def score(text: str, model: LinearModel) -> float:
    """The score of the sentence that most likely is a wish."""
    return max(scores(list(safe_sentences(text)), lambda each: probability_by(model, each)), default=0.0)


def scored(own: Sequence[Sentence], others: Sequence[Row]) -> Iterator[tuple[Sentence, float]]:
    """Each sentence with its score by a model that was not trained on it."""
    fold = [crc32(each.text.encode()) % FOLDS for each in own]
    for number in range(FOLDS):
        learnt = [each for each, at in zip(own, fold, strict=True) if at != number]
        model = model_of([*own_rows(learnt), *others])
        yield from ((each, score(each.text, model)) for each, at in zip(own, fold, strict=True) if at == number)


def cross_validated(own: Sequence[Sentence], others: Sequence[Row]) -> dict[str, Any]:
    """Precision and recall by threshold, among sentences that no pattern reads."""
    found = list(scored(own, others))
    is_wish = np.array([each.label == "wish" for each, _ in found])
    reached = np.array([score for _, score in found])
    return {
        str(least): {
            "precision": round(float(is_wish[reached >= least].mean()), 3),
            "recall": round(float((reached[is_wish] >= least).mean()), 3),
        }
        for least in THRESHOLDS
    }


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="train-wishes", description=__doc__)
    parser.add_argument("--only-measure", action="store_true", help="leave the weights as they are")
    options = parser.parse_args(argv)
    own, public = labelled(), public_rows()
    if not public:
        sys.stderr.write("no public conversations: MEMSTREAM_SHARED_DATA names none (tests/benchmarks/README.md)\n")
        return 1
    others = [*standing_rows(), *public]
    if not options.only_measure:
        FILE.write_bytes(encoded(model_of([*own_rows(own), *others])))
    report = {"sentences": len(own), "others": len(others), "unseen": cross_validated(own, others)}
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
