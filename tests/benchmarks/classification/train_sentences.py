"""`make train-sentences`: trains the classifier of sentences, writes its graph and measures it on unseen messages. The
last line is one JSON object.

Trained are the last four layers of multilingual-e5-small and a head, with all messages but the held-out ones. With `--further`
the model that is there learns on: the messages of the named files, and a share of the other sentences.
"""

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final

import numpy as np

from sinks.classification.sentences import GRAPH, OnnxSentenceClassifier
from tests.benchmarks.classification.classifier_graph import write
from tests.benchmarks.classification.messages import (
    CLASSES,
    LIMIT,
    WISH,
    Labelled,
    hash_of_files,
    of_messages,
    of_public,
    of_standing,
)
from tests.benchmarks.classification.multilingual_model import PackedModel, multilingual, write_base
from tests.benchmarks.classification.training import Example, by_threshold, packaged, trained

EPOCHS: Final = 3
EPOCHS_FURTHER: Final = 2
SHARE_FURTHER: Final = 0.3  # of the sentences that the model has learnt
WEIGHTS: Final = {"standing": 0.7, "public": 0.5}  # of a sentence that was labelled for something else, or by rules
THRESHOLDS: Final = (0.3, 0.5, 0.7, 0.8, 0.9)


def examples(labelled: Sequence[Labelled]) -> list[Example]:
    return [Example(*each.sentence, each.classes, WEIGHTS.get(each.source, 1.0)) for each in labelled]


def with_share_of_others(learnt: Sequence[Labelled], files: Sequence[str], chance: random.Random) -> list[Labelled]:
    """The sentences of the files, and a share of the others, so that the model does not forget them."""
    others = [each for each in learnt if each.source not in files]
    new = [each for each in learnt if each.source in files]
    return [*new, *chance.sample(others, int(len(others) * SHARE_FURTHER))]


async def measured(labelled: Sequence[Labelled]) -> dict[str, Any]:
    """Returns precision and recall of each class by threshold, and the share of sentences classified correctly, of the
    written file."""
    with closing(OnnxSentenceClassifier()) as classifier:
        scored = await classifier.classify([each.sentence for each in labelled])
    found = np.array([each or np.eye(len(CLASSES))[0] for each in scored])
    figures: dict[str, Any] = {"sentences": len(labelled)}
    right = [best in each.classes for best, each in zip(found.argmax(axis=1), labelled, strict=True)]
    figures["right"] = round(float(np.mean(right)), 3)
    wanted = {name: (at,) for at, name in enumerate(CLASSES)} | {"limit_or_wish": (LIMIT, WISH)}
    for name, classes in wanted.items():
        is_one = np.array([set(each.classes) <= set(classes) for each in labelled])
        share = found[:, list(classes)].sum(axis=1)
        figures[name] = by_threshold(is_one, share, THRESHOLDS)
    return figures


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="train-sentences", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--further",
        nargs="+",
        metavar="FILE",
        default=(),
        help="learn on from the model that is there: these labelled files",
    )
    parser.add_argument("--only-measure", action="store_true", help="leave the model as it is")
    options = parser.parse_args(argv)
    own, standing = list(of_messages()), list(of_standing())
    public = list(of_public(random.Random(options.seed)))
    if not public:
        sys.stderr.write("no public conversations: MEMSTREAM_SHARED_DATA names none (tests/benchmarks/README.md)\n")
        return 1
    learnt = [each for each in (*own, *standing, *public) if not each.is_held_out]
    if not options.only_measure:
        packed = PackedModel()
        base, stored = multilingual(packed), write_base(packed)
        start, epochs, chosen = None, EPOCHS, learnt
        if options.further:
            start, epochs = packaged(GRAPH, base), EPOCHS_FURTHER
            chosen = with_share_of_others(learnt, options.further, random.Random(options.seed))
        layers, head = trained(base, examples(chosen), len(CLASSES), epochs, options.seed, start)
        write(GRAPH, stored, layers, head, hash_of_files())
    unseen = [each for each in own if each.is_held_out]
    parts = {
        "english": [each for each in unseen if each.language == "en"],
        "others": [each for each in unseen if each.language != "en"],
        "standing_english": [each for each in standing if each.is_held_out and each.language == "en"],
        "standing_others": [each for each in standing if each.is_held_out and each.language != "en"],
    }
    report = {name: asyncio.run(measured(each)) for name, each in parts.items() if each}
    sys.stdout.write(json.dumps({"trained_on": len(learnt), "unseen": report}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
