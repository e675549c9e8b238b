"""Rates the wording of a passage: statements about the speaker score higher than remarks to the other person. English. Pure.

"That sounds amazing, you must love cooking!" resembles many questions and answers none of them; "Today I tried a Thai curry"
does.
"""

import re
from typing import Final, NamedTuple

from msgspec import Struct

# A word as in agents.passages.terms, without the apostrophe and what follows ("don" of "don't").
WORD_STEM: Final = re.compile(r"([^\W_]+)(?:'[a-z]+)?")
FIRST_PERSON: Final = frozenset("i im ive id my me mine myself we our ours us".split())  # noqa: SIM905
SECOND_PERSON: Final = frozenset("you your yours yourself u ur".split())  # noqa: SIM905
TIME_WORDS: Final = frozenset(
    """
    today yesterday tonight tomorrow morning evening weekend week month year years ago last next since just lately recently
    currently monday tuesday wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905
)
# A capitalised word within a sentence, or a quoted title.
NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+|[\"“][^\"“”]+[\"”]")
OF_OTHERS: Final = 0.5  # weight of the wording for a question that is not about the person who asks
FULL_SHARE_WORDS: Final = 10  # words; one first-person word in as many counts as 1
MOST_NAMES: Final = 3


class WordingWeights(Struct, frozen=True, kw_only=True):
    """The greatest effect of each feature on a score. `names` counts only in passages of a speaker whom the question names."""

    speaker: float = 0.12
    addressed: float = -0.12
    when: float = 0.05
    names: float = 0.08


class Wording(NamedTuple):
    """Features from 0 to 1: the share of first-person words and of second-person words, whether a time is named, and the
    number of names and quoted titles."""

    speaker: float
    addressed: float
    when: float
    names: float

    def preference(self, weights: WordingWeights) -> float:
        return (
            weights.speaker * self.speaker
            + weights.addressed * self.addressed
            + weights.when * self.when
            + weights.names * self.names
        )


def weight_for(question: str) -> float:
    """The weight of the wording for a question: the whole for one about the person who asks ("where did I ...")."""
    return OF_OTHERS if FIRST_PERSON.isdisjoint(WORD_STEM.findall(question.lower().replace("’", "'"))) else 1.0


def wording(text: str, *, with_names: bool = True) -> Wording:
    """`with_names` says whether names are counted, which takes a third of the time."""
    words = WORD_STEM.findall(text.lower().replace("’", "'"))
    share = FULL_SHARE_WORDS / max(1, len(words))
    return Wording(
        speaker=min(1.0, share * sum(map(FIRST_PERSON.__contains__, words))),
        addressed=min(1.0, share * sum(map(SECOND_PERSON.__contains__, words))),
        when=float(not TIME_WORDS.isdisjoint(words)),
        names=min(1.0, len(NAME.findall(text)) / MOST_NAMES) if with_names else 0.0,
    )
