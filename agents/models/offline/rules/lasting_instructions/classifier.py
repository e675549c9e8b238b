"""Classifies a sentence as a limit of the speaker, a standing wish, or neither: a linear model over words and classes of words.

`make train-standing` trains the weights (`classifier.json`) on sentences that were written for it
(`tests/benchmarks/standing`). Classes (`instructions.json`) cover words that the model has not seen.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from agents.models.offline.rules.engine.folding import folded
from agents.models.offline.rules.engine.linear_model import LinearModel
from agents.models.offline.rules.engine.spelling import without_accents
from agents.models.offline.rules.lasting_instructions.instruction_classes import alternatives, any_word, table

FILE: Final = Path(__file__).with_suffix(".json")
DIMENSION: Final = 1 << 14
TOKEN: Final = re.compile(r"[^\W\d]+|\d+|[?!:\"«»“”]")
MEMORY_LABELS: Final = ("memory",)  # instead of labels, for the text of a memory
WITH_CAPITAL: Final = "(?-i:"
NO_FEATURES: Final = frozenset({"templates", "predicates"})


class Scores(NamedTuple):
    """Probabilities, from 0 to 1. The rest to 1 is the probability of neither."""

    limit: float
    wish: float

    @property
    def either(self) -> float:
        return self.limit + self.wish


class WordClass(NamedTuple):
    """The words of a class: a pattern of folded texts, or, if a capital counts, of texts as they are."""

    name: str
    words: re.Pattern[str]
    is_cased: bool


def scores(text: str, code: str, labels: Sequence[str] = ()) -> Scores:
    """The probabilities for a sentence without contractions. `labels` are the kinds and tags of the rules' findings in it."""
    return Scores(*model().probabilities(features(text, code, labels)))


def features(text: str, code: str, labels: Sequence[str] = ()) -> Iterator[str]:
    """The features of a sentence: words, pairs of neighbouring words, classes of words, and labels."""
    words = ["^", *("0" if each.isdigit() else each for each in TOKEN.findall(without_accents(text.casefold()))), "$"]
    yield from words[1:-1]
    yield from map(" ".join, pairwise(words))
    lowered = folded(text)
    yield from (f"class {each.name}" for each in classes(code) if each.words.search(text if each.is_cased else lowered))
    yield from (f"found {each}" for each in labels or ("nothing",))


@cache
def classes(code: str) -> tuple[WordClass, ...]:
    named = msgspec.structs.asdict(table()[code])
    return tuple(word_class(name, words) for name, words in named.items() if name not in NO_FEATURES)


def word_class(name: str, words: str) -> WordClass:
    is_cased = WITH_CAPITAL in words
    return WordClass(name, any_word(words) if is_cased else re.compile(alternatives(words)), is_cased)


@cache
def model() -> LinearModel:
    return LinearModel.load(FILE)
