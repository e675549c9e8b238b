"""Labelled pairs of statements, written for training and testing the model that compares statements."""

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from agents.curation.rules.decisions.comparing import pair_of, unquoted
from agents.models.dates.dates import local
from agents.models.offline.rules.engine.sentences import is_question, sentences
from agents.models.offline.rules.findings.classified_statements import statement_finding
from agents.models.offline.statements import language_rules
from tests.benchmarks.offline_measures import stems
from tests.benchmarks.offline_sets import Talk, held_out, present
from tests.benchmarks.standing.train import SETS as PUBLIC_SETS
from tests.cases.labelled_pairs import Pair, changes, pairs, rule_pairs, topics, tuning

FOLDER: Final = Path(__file__).parent / "labelled"
ENDS, HOLDS, SAME = range(3)
LABELS: Final = {"- ": ENDS, "+ ": HOLDS, "= ": SAME}
OTHER_LANGUAGES: Final = ("german", "french", "spanish")
LATER: Final = re.compile(r"> (=\d+(?:,\d+)*|~?\d+(?:,~?\d+)*) (.+)")
SAYS_THE_SAME: Final = "="
IN_PART: Final = "~"
NONE_OF_THEM: Final = "0"
LONGER_WORD: Final = re.compile(r"\b[^\W\d_]{4,5}")
SAID_AT: Final = datetime(2026, 3, 2, tzinfo=UTC)
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
    """Returns the files of training pairs."""
    return sorted((FOLDER / "pairs").glob("*.txt"))


def hash_of_files() -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files())).hexdigest()


def blocks(path: Path) -> Iterator[list[str]]:
    return (block.splitlines() for block in path.read_text(encoding="utf-8").strip().split("\n\n"))


def written() -> Iterator[Labelled]:
    """Those of `pairs`: in each block a heading `# topic`, the earlier statement, then the later ones with `-` (it ends), `+`
    (both hold) or `=` (they say the same) before them."""
    for path in files():
        for heading, earlier, *later in blocks(path):
            for line in later:
                yield Labelled(path.stem, heading.removeprefix("# "), earlier, line[2:], LABELS[line[:2]])


def of_changes() -> Iterator[Labelled]:
    """Those of `changes`, of which nothing is learnt."""
    for path in sorted((FOLDER / "changes").glob("*.txt")):
        for heading, *lines in blocks(path):
            yield from of_changes_block(path.stem, heading.removeprefix("# "), lines)


def of_changes_block(source: str, topic: str, lines: Sequence[str]) -> Iterator[Labelled]:
    """Those of one block: numbered statements, all of which hold, then later ones: `> 2,5 later` ends two of them, `> 0 later`
    none, `> =3 later` says the same as one. `> ~4 later` ends a part of one: it holds, as what is left of it would be lost. Of
    those that hold beside a later one, as most do, one is taken: the one that shares most words with it, or another. Chats are
    as memories tell them.

    Raises ValueError for a line of another form, KeyError for a number that no statement has.
    """

    def as_memory(text: str) -> str:
        return remembered(text, source[:2]) if source.endswith("_chats") else text

    numbered = [line.split(" ", 1) for line in lines if not line.startswith(">")]
    earlier = {number: as_memory(text) for number, text in numbered}
    for number, line in enumerate(line for line in lines if line.startswith(">")):
        found = LATER.fullmatch(line)
        if found is None:
            raise ValueError(f"{source}, {topic}: neither a statement nor a later one: {line}")
        named, text = found.groups()
        later = as_memory(text)
        of_whole = SAME if named.startswith(SAYS_THE_SAME) else ENDS
        relations = {
            each.removeprefix(IN_PART): HOLDS if each.startswith(IN_PART) else of_whole
            for each in named.removeprefix(SAYS_THE_SAME).split(",")
            if each != NONE_OF_THEM
        }
        for each, relation in relations.items():
            yield Labelled(source, topic, earlier[each], later, relation)
        words = beginnings(later)
        holding = sorted(
            (text for each, text in earlier.items() if each not in relations),
            key=lambda text: -len(words & beginnings(text)),
        )
        if holding:
            kept = holding[0] if number % 2 == 0 else holding[crc32(later.encode()) % len(holding)]
            yield Labelled(source, topic, kept, later, HOLDS)


def beginnings(text: str) -> frozenset[str]:
    """The first five letters of the longer words."""
    return frozenset(LONGER_WORD.findall(text.lower()))


def remembered(text: str, language: str) -> str:
    """The sentence as the model compares the memory that is made of it."""
    rules = language_rules(text, language)
    statement = statement_finding(rules, text, SAID_AT, is_certain=True) if rules is not None else None
    return unquoted(statement.text if statement is not None else text)


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


def of_public(chance: random.Random, *, is_held_out: bool = False) -> Iterator[Labelled]:
    """Pairs of what one person says in one public conversation that share a word, up to `MOST_PUBLIC`: of the tuning halves of
    sets whose licences let others use what is learnt from them, or of the other halves of all sets. Nearly all of them hold
    beside each other."""
    found = [
        Labelled(PUBLIC, talk.name, *pair_of(earlier, later), HOLDS, WEIGHT_OF_PUBLIC)
        for data in present()
        if is_held_out or data.name in PUBLIC_SETS
        for talk in data.talks
        if held_out(talk.name) == is_held_out
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
            statement = None if is_question(sentence) else statement_finding(rules, sentence, said_at, is_certain=True)
            if statement is not None:
                yield statement.text


def relation_of(pair: Pair) -> int:
    if pair.label == "contradiction":
        return ENDS
    return SAME if pair.one_memory else HOLDS
