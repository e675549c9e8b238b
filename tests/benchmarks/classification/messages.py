"""Labelled messages, written for training and testing the classifier of sentences."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from agents.models.offline.rules.engine.sentences import sentences
from schemas.extraction.sentences import Sentence, SentenceScores, in_context
from tests.benchmarks.offline_measures import covers, stems
from tests.benchmarks.offline_sets import held_out, present
from tests.benchmarks.standing import sentences as standing
from tests.benchmarks.standing.train import SETS as PUBLIC_SETS

FOLDER: Final = Path(__file__).parent / "labelled" / "messages"
CLASSES: Final = SentenceScores._fields
OTHER, STATEMENT, LIMIT, WISH, UNREAL = range(len(CLASSES))
LABELS: Final = {"none": OTHER, "self": STATEMENT, "limit": LIMIT, "wish": WISH, "unreal": UNREAL}
# The sentences that were labelled for limits and wishes alone: statements include trifles, and what is about others is with
# what is unreal.
OF_STANDING: Final = {
    "none": (OTHER, UNREAL),
    "self": (OTHER, STATEMENT),
    "limit": (LIMIT,),
    "wish": (WISH,),
    "unreal": (OTHER, STATEMENT, UNREAL),
}
FOLDS: Final = 8
# These say the same in three languages, so none of them is held out.
TRANSLATED: Final = frozenset({"de_life", "fr_life", "es_life"})
MOST_PUBLIC: Final = 2_000


class Labelled(NamedTuple):
    """A sentence with the classes of which one is right; `source` is the file."""

    source: str
    language: str
    sentence: Sentence
    classes: tuple[int, ...]
    is_held_out: bool


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def hash_of_files() -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in (*files(), *standing.files()))).hexdigest()


def of_messages() -> Iterator[Labelled]:
    """A block a message, with lines `label: sentence`; the first may be `ai: ...`, which was said before. By a hash of its first
    sentence a message is held out."""
    for path in files():
        for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
            lines = [line.split(": ", 1) for line in block.splitlines()]
            previous = lines.pop(0)[1] if lines[0][0] == "ai" else ""
            is_held_out = crc32(lines[0][1].encode()) % FOLDS == 0 and path.stem not in TRANSLATED
            in_place = in_context(previous, [text for _, text in lines])
            for (label, _), sentence in zip(lines, in_place, strict=True):
                yield Labelled(path.stem, path.stem[:2], sentence, (LABELS[label],), is_held_out)


def of_standing() -> Iterator[Labelled]:
    """Yields the sentences written for limits and wishes; held out by topic."""
    for each in standing.sentences():
        is_held_out = crc32(each.topic.encode()) % FOLDS == 0
        yield Labelled("standing", each.language, Sentence("", each.text), OF_STANDING[each.label], is_held_out)


def of_public(chance: random.Random) -> Iterator[Labelled]:
    """Sentences of the tuning halves of public conversations whose licences let others use what is learnt from them: questions,
    those that state a fact that the set names for its speakers, and others, which hardly are a limit or a wish. Up to
    `MOST_PUBLIC` of each."""
    by_classes: dict[tuple[int, ...], list[Labelled]] = {}
    for each in public_sentences():
        by_classes.setdefault(each.classes, []).append(each)
    for found in by_classes.values():
        yield from chance.sample(found, min(MOST_PUBLIC, len(found)))


def public_sentences() -> Iterator[Labelled]:
    for each in present():
        if each.name not in PUBLIC_SETS:
            continue
        for talk in (talk for talk in each.talks if not held_out(talk.name)):
            facts = [fact for fact in (stems(gold, each.language) for gold in talk.gold) if fact]
            for previous, message in pairwise(("", *(one.content for one in talk.messages))):
                said = sentences(message)
                for sentence in in_context(previous, said):
                    yield Labelled(
                        "public", each.language, sentence, public_classes(sentence.text, facts, each.language), False
                    )


def public_classes(text: str, facts: Sequence[frozenset[str]], language: str) -> tuple[int, ...]:
    if text.rstrip().endswith("?"):
        return (OTHER,)
    said = stems(text, language)
    return (STATEMENT, LIMIT) if any(covers(said, fact) for fact in facts) else (OTHER, STATEMENT, UNREAL)
