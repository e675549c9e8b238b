"""`make train-comparer`: trains the model that compares statements, writes its graph and measures it on unseen
statements. The last line is one JSON object.

Trained are the last four layers of multilingual-e5-small and a head, with all pairs but the held-out ones. Pairs of different
blocks, most of which hold beside each other, are added with a smaller weight: most neighbours of a statement are such.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sinks.classification.comparer import GRAPH, OnnxComparer
from sinks.classification.port import Pair, Relation
from tests.benchmarks.classification.classifier_graph import write
from tests.benchmarks.classification.multilingual_model import PackedModel, multilingual, write_base
from tests.benchmarks.classification.pairs import (
    ENDS,
    HOLDS,
    OF_RULES,
    OTHER_LANGUAGES,
    PUBLIC,
    SAME,
    Labelled,
    hash_of_files,
    of_changes,
    of_public,
    of_rules,
    written,
)
from tests.benchmarks.classification.training import Example, by_threshold, trained

EPOCHS: Final = 3
WEIGHT_OF_ADDED: Final = 0.5
REVERSED_SHARE: Final = 0.15  # of the pairs that both hold
OTHER_SHARE: Final = 0.2  # pairs of different blocks, per pair
THRESHOLDS: Final = (0.5, 0.7, 0.8, 0.9, 0.95)


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


def classes_of(pair: Labelled) -> tuple[int, ...]:
    return (HOLDS, SAME) if pair.source == PUBLIC else (pair.relation,)


async def relations_of(pairs: Sequence[Labelled]) -> NDArray[np.float64]:
    with closing(OnnxComparer()) as comparer:
        return np.array(await comparer.compare([Pair(each.earlier, each.later) for each in pairs]))


async def ended_of_public(pairs: Sequence[Labelled]) -> dict[str, Any]:
    """Counts by threshold the pairs of public statements that the written file ends, nearly all of them wrongly, and
    times a pair."""
    began = time.monotonic()
    ends = (await relations_of(pairs))[:, ENDS]
    took_ms = 1000 * (time.monotonic() - began) / max(1, len(pairs))
    ended = {str(least): int((ends >= least).sum()) for least in THRESHOLDS}
    return {"pairs": len(pairs), "ended": ended, "ms_a_pair": round(took_ms, 2)}


async def measured(pairs: Sequence[Labelled]) -> dict[str, Any]:
    """Returns precision and recall of endings by threshold, and the share of correct relations, of the written file."""
    found = await relations_of(pairs)
    relations = np.array([each.relation for each in pairs])
    ends = relations == ENDS
    right = round(float((found.argmax(axis=1) == relations).mean()), 3)
    thresholds = by_threshold(ends, found[:, ENDS], THRESHOLDS)
    return {"pairs": len(pairs), "endings": int(ends.sum()), "right": right, "ends": thresholds}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="train-comparer", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only-measure", action="store_true", help="leave the model as it is")
    options = parser.parse_args(argv)
    own, rules = list(written()), list(of_rules())
    chance = random.Random(options.seed)
    public = list(of_public(chance))
    if not public:
        sys.stderr.write("no public conversations: MEMSTREAM_SHARED_DATA names none (tests/benchmarks/README.md)\n")
        return 1
    learnt = [each for each in (*own, *rules) if not each.is_held_out]
    if not options.only_measure:
        pairs = [*learnt, *added(learnt, chance), *public]
        examples = [Example(each.earlier, each.later, classes_of(each), each.weight) for each in pairs]
        packed = PackedModel()
        base = write_base(packed)
        layers, head = trained(multilingual(packed), examples, len(Relation._fields), EPOCHS, options.seed)
        write(GRAPH, base, layers, head, hash_of_files())
    unseen = [each for each in own if each.is_held_out]
    english = [each for each in unseen if each.source not in OTHER_LANGUAGES]
    others = [each for each in unseen if each.source in OTHER_LANGUAGES]
    report = {
        "trained_on": len(learnt),
        "unseen": {"english": asyncio.run(measured(english)), "others": asyncio.run(measured(others))},
        "changes": asyncio.run(measured(list(of_changes()))),
        "public": asyncio.run(ended_of_public(list(of_public(random.Random(options.seed), is_held_out=True)))),
    }
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
