"""Classifies a sentence as a wish to have something forgotten or not: a linear model over words and classes of words.

`make train-wishes` trains the weights (`classifier.json`) on sentences that were written for it (`tests/benchmarks/wishes`).
Classes (`classes.json`) have the same meaning in all languages, such as words for memory, and cover words that the model has not
seen.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Final

import msgspec

from agents.models.offline.rules.engine.linear_model import LinearModel
from agents.models.offline.rules.engine.spelling import without_accents

FILE: Final = Path(__file__).with_suffix(".json")
CLASSES: Final = Path(__file__).with_name("classes.json")
DIMENSION: Final = 1 << 15
TOKEN: Final = re.compile(r"[^\W\d]+|\d+|[?!:\"«»“”„…]")
QUOTATION_MARKS: Final = frozenset('"«»“”„')
MIN_LETTERS: Final = 4  # of a word whose parts are features
PARTS: Final = (4, 5)  # letters
ORDERED: Final = 14  # classes at the beginning of a sentence whose order counts
# A wish has a word of NEAR, or says that "you" should not know what "I" said.
NEAR: Final = frozenset({"forget", "remove", "keep", "memory", "away"})
SHARED: Final = frozenset({"know", "said"})
DENIED: Final = frozenset({"not", "you", "me"})
# Whether the second kind is missing beside the first matters: "keep that" and "do not keep that".
ACTS: Final = ("forget", "remove", "keep", "know", "said")
ROUND_ACTS: Final = ("not", "you", "memory", "me")


def probability(text: str) -> float:
    """The probability, from 0 to 1, that a sentence, or a few, asks to have something forgotten; 0 without words for it."""
    return probability_by(model(), text)


def probability_by(model: LinearModel, text: str) -> float:
    """The same by another model."""
    if not is_near(frozenset(name for word in words_of(text) for name in classes_of(word))):
        return 0.0
    (found,) = model.probabilities(features(text))
    return found


def is_near(present: frozenset[str]) -> bool:
    """Whether a sentence has words of the classes that a wish has."""
    return not present.isdisjoint(NEAR) or (present >= DENIED and not present.isdisjoint(SHARED))


def words_of(text: str) -> list[str]:
    return ["0" if each.isdigit() else each for each in TOKEN.findall(without_accents(text.casefold()))]


def features(text: str) -> Iterator[str]:
    """The features: words, pairs of neighbouring words, parts of words, and classes with their order."""
    words = words_of(text)
    yield from words
    yield from map(" ".join, pairwise(["^", *words, "$"]))
    yield from (part for word in words if len(word) >= MIN_LETTERS for part in parts(word))
    yield from features_of_classes([each for word in words for each in classes_of(word)])


def parts(word: str) -> Iterator[str]:
    whole = f"#{word}#"
    yield from (f"part {whole[at : at + size]}" for size in PARTS for at in range(len(whole) - size + 1))


def features_of_classes(found: Sequence[str]) -> Iterator[str]:
    present = frozenset(found)
    yield from (f"class {each}" for each in present)
    yield from (f"{first} .. {second}" for first, second in combinations(found[:ORDERED], 2))
    yield from (" > ".join(each) for each in zip(found, found[1:], found[2:], strict=False))
    yield from (
        f"{act} without {other}" for act in ACTS if act in present for other in ROUND_ACTS if other not in present
    )
    yield from (f"first {number} {each}" for number, each in enumerate(found[:2]))


@lru_cache(maxsize=4_096)
def classes_of(word: str) -> tuple[str, ...]:
    """The classes of a word in lower case, without accents."""
    if word in QUOTATION_MARKS:
        return ("quotation",)
    if word == "?":
        return ("question",)
    whole, beginnings = table()
    return tuple(sorted({*whole.get(word, ()), *(name for start, name in beginnings if word.startswith(start))}))


@cache
def table() -> tuple[dict[str, set[str]], tuple[tuple[str, str], ...]]:
    """The classes by whole word, and by beginning of a word ("delet*")."""
    whole: dict[str, set[str]] = {}
    beginnings: list[tuple[str, str]] = []
    for name, words in msgspec.json.decode(CLASSES.read_bytes(), type=dict[str, str]).items():
        for word in words.split():
            if word.endswith("*"):
                beginnings.append((word[:-1], name))
            else:
                whole.setdefault(word, set()).add(name)
    return whole, tuple(beginnings)


@cache
def model() -> LinearModel:
    return LinearModel.load(FILE)
