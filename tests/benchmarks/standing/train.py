"""`make train-standing`: trains the classifier of limits and standing wishes and measures it on unseen topics.

Positives are the sentences of this folder. Negatives are those too, and the tuning halves of the public conversations
(`offline_sets`) whose licences let others use what is learnt from them, without what the rules take for a limit or for something
of health: they are not labelled, and some are limits.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np

from agents.models.offline.own_statements import own_statements
from agents.models.offline.rules.engine.linear_model import indices
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.rule_engine import LEADING, normalised
from agents.models.offline.rules.findings.sentence_findings import labels, rule_findings
from agents.models.offline.rules.framing.framing import is_unreal, own_part
from agents.models.offline.rules.lasting_instructions.classifier import (
    DIMENSION,
    FILE,
    MEMORY_LABELS,
    features,
)
from agents.models.offline.rules.lasting_instructions.instruction_classes import TABLE
from agents.models.offline.rules.lasting_instructions.wording import SUBJECTS
from agents.models.offline.statements import LANGUAGE_RULES, language_rules, safe_sentences
from tests.benchmarks.offline_sets import UNDATED, held_out, present
from tests.benchmarks.standing.regression import Row, Rows, encoded, probabilities, quantised, trained
from tests.benchmarks.standing.sentences import Sentence, files, sentences

SETS: Final = frozenset({"personas", "personas_fr", "synthetic_personas", "companion"})
FOLDS: Final = 5
CLASSES: Final = 2  # limits and wishes
WEIGHT_OF_PUBLIC: Final = 1.0
POSSIBLE: Final = frozenset({"constraint", "directive", "health", "allergy", "diet"})
THRESHOLDS: Final = (0.3, 0.5, 0.7, 0.8)


def row(text: str, code: str, found: Sequence[str], target: int, weight: float, topic: str) -> Row:
    places = np.array(sorted(indices(features(text, code, found), DIMENSION)), dtype=np.int64)
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
        scored[fold == number] = (
            1 - probabilities(Rows(held_out, DIMENSION), *trained([*learnt, *negatives], CLASSES, DIMENSION))[:, 0]
        )
    is_one = np.array([each.target > 0 for each in own])
    return {
        str(least): {
            "precision": round(float((is_one & (scored >= least)).sum() / max(1, (scored >= least).sum())), 3),
            "recall": round(float((is_one & (scored >= least)).sum() / is_one.sum()), 3),
        }
        for least in THRESHOLDS
    }


def hash_of(sentences: Iterable[bytes]) -> str:
    """The hash of the training sentences and of the classes of words."""
    return hashlib.sha256(b"\0".join((TABLE.read_bytes(), *sentences))).hexdigest()


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
        trained_on = hash_of(path.read_bytes() for path in files())
        FILE.write_bytes(encoded(quantised(*trained([*own, *public], CLASSES, DIMENSION), trained_on)))
    report = {"sentences": len(own), "public": len(public), "unseen_topics": cross_validated(own, public)}
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
