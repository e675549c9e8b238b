"""Pairs of statements with labels that were written to train and to test what compares statements."""

import hashlib
import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from agents.curation.rules.comparing import pair_of
from agents.models.dates.dates import local
from agents.models.offline.rules.classified_statements import stated
from agents.models.offline.rules.sentences import is_question, sentences
from agents.models.offline.statements import language_rules
from tests.benchmarks.offline_measures import stems
from tests.benchmarks.offline_sets import Talk, held_out, present
from tests.benchmarks.standing.train import SETS as PUBLIC_SETS
from tests.labelled_pairs import Pair, changes, pairs, rule_pairs, topics, tuning

FOLDER: Final = Path(__file__).parent / "labelled" / "pairs"
ENDS, HOLDS, SAME = range(3)
LABELS: Final = {"- ": ENDS, "+ ": HOLDS, "= ": SAME}
OTHER_LANGUAGES: Final = ("german", "french", "spanish")
OF_RULES: Final = ("topics", "labelled", "changes", "rules")
FOLDS: Final = 8
WEIGHT_OF_TOPICS: Final = 0.5  # many pairs of few statements
WEIGHT_OF_PUBLIC: Final = 0.5  # a few of them tell a change
PUBLIC: Final = "public"
MOST_PUBLIC: Final = 6_000


class Labelled(NamedTuple):
    """A statement, one that was made later, and the relation; `source` is the file, `topic` the block."""

    source: str
    topic: str
    earlier: str
    later: str
    relation: int
    weight: float = 1.0

    @property
    def is_held_out(self) -> bool:
        """By a hash of the earlier statement. Blocks share hardly a statement; the pairs of the rules do, so no figure is told of
        those that are held out."""
        return crc32(self.earlier.encode()) % FOLDS == 0


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def hash_of_files() -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files())).hexdigest()


def written() -> Iterator[Labelled]:
    """Those of the blocks: a heading `# topic`, the earlier statement, then the later ones with `-` (it ends), `+` (both hold)
    or `=` (they say the same) before them."""
    for path in files():
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            heading, earlier, *later = block.strip().splitlines()
            for line in later:
                yield Labelled(path.stem, heading.removeprefix("# "), earlier, line[2:], LABELS[line[:2]])


def of_rules() -> Iterator[Labelled]:
    """The pairs that the rules are tuned on, in four languages."""
    for source, listed, weight in (
        ("topics", topics(), WEIGHT_OF_TOPICS),
        ("labelled", pairs(), 1.0),
        ("changes", changes(), 1.0),
    ):
        for each in tuning(listed):
            yield Labelled(source, source, each.memory, each.candidate, relation_of(each), weight)
    for section, relation in (("ends", ENDS), ("stays", HOLDS)):
        for memory, statement in rule_pairs(section):
            yield Labelled("rules", section, memory, statement, relation)


def of_public(chance: random.Random) -> Iterator[Labelled]:
    """Pairs of what one person says in one public conversation that share a word, of the tuning halves of sets whose licences let
    others use what is learnt from them. Nearly all of them hold beside each other."""
    found = [
        Labelled(PUBLIC, talk.name, *pair_of(earlier, later), HOLDS, WEIGHT_OF_PUBLIC)
        for data in present()
        if data.name in PUBLIC_SETS
        for talk in data.talks
        if not held_out(talk.name)
        for earlier, later in combinations(statements_of(talk, data.language), 2)
        if stems(earlier, data.language) & stems(later, data.language)
    ]
    yield from chance.sample(found, min(MOST_PUBLIC, len(found)))


def statements_of(talk: Talk, language: str) -> Iterator[str]:
    """The sentences of a conversation as memories tell them."""
    for message in talk.messages:
        rules = language_rules(message.content, language)
        if rules is None:
            continue
        said_at = local(message.timestamp, message.time_zone)
        for sentence in sentences(message.content):
            told = None if is_question(sentence) else stated(rules, sentence, said_at, is_certain=True)
            if told is not None:
                yield told.text


def relation_of(pair: Pair) -> int:
    if pair.label == "contradiction":
        return ENDS
    return SAME if pair.one_memory else HOLDS
