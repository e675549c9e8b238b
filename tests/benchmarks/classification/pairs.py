"""Pairs of statements with labels that were written to train and to test what compares statements."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from tests.labelled_pairs import Pair, changes, pairs, rule_pairs, topics, tuning

FOLDER: Final = Path(__file__).parent / "labelled" / "pairs"
ENDS, HOLDS, SAME = range(3)
LABELS: Final = {"- ": ENDS, "+ ": HOLDS, "= ": SAME}
OTHER_LANGUAGES: Final = ("german", "french", "spanish")
OF_RULES: Final = ("topics", "labelled", "changes", "rules")
FOLDS: Final = 8
WEIGHT_OF_TOPICS: Final = 0.5  # many pairs of few statements


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


def relation_of(pair: Pair) -> int:
    if pair.label == "contradiction":
        return ENDS
    return SAME if pair.one_memory else HOLDS
