"""Finds wishes to forget in words that no pattern knows, with a classifier. What such a wish means is not known."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from agents.models.offline.rules.engine.injection import instructs
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.framing.framing import is_hearsay, is_unreal, own_part
from agents.models.offline.rules.wishes.classifier import probability
from agents.models.offline.statements import readable_beginning, safe_sentences
from agents.models.offline.wishes import (
    INNER_BREAK,
    POLITE_ASKING,
    ForgetWish,
    MessageWishes,
    is_denied,
    wish_in,
    wishes_in,
)
from schemas.extraction.requests import SliceMessage

LEAST: Final = 0.9  # probability of a wish; about 96 % of the tempting sentences above it are one
LEAST_ALONE: Final = 0.5  # of a sentence that is a wish only together with the one before it
HYPOTHESIS: Final = re.compile(
    r"\W*(?:(?:and|but|und|et|y) )?(?:if|suppose|what if|wenn|falls|angenommen|si)\b", re.IGNORECASE
)
UNCLEAR: Final = ForgetWish(unclear=True)


def wishes_or_guess_in(message: SliceMessage) -> MessageWishes:
    """The wishes that patterns read in a user's message; if they read none, an unclear wish if the classifier finds one. The rest
    has no sentence with a wish."""
    found = wishes_in(message)
    if found.wishes or found.rest != message.content or message.role != "user":
        return found
    content = readable_beginning(message.content)
    said = list(safe_sentences(own_part(content)))
    others = [each for each, score in zip(said, scores(said), strict=True) if score < LEAST]
    if len(others) == len(said) or instructs(content):
        return found
    return MessageWishes((UNCLEAR,), " ".join(" ".join(others).split()))


def scores(sentences: Sequence[str], probability: Callable[[str], float] = probability) -> list[float]:
    """For each sentence the probability that it asks to have something forgotten, by itself or with the one before it; 0 for one
    that hardly does by itself."""
    found: list[float] = []
    for before, sentence in pairwise(("", *sentences)):
        alone = probability(sentence)
        if alone < LEAST_ALONE or not may_ask(sentence):
            found.append(0.0)
        else:
            found.append(max(alone, probability(f"{before} {sentence}") if before else 0.0))
    return found


def asks_politely(question: str) -> bool:
    """Whether a clause of a question is a polite request, and the question no hypothesis."""
    return HYPOTHESIS.match(question) is None and any(map(POLITE_ASKING.match, INNER_BREAK.split(question)))


def may_ask(sentence: str) -> bool:
    """Whether the sentence is neither a question without a polite request, nor about a dream, a game or another person's words,
    nor an exception. Patterns alone judge a sentence that they match."""
    if is_question(sentence) and not asks_politely(sentence):
        return False
    return not (is_hearsay(sentence) or is_unreal(sentence) or is_denied(sentence) or wish_in(sentence) is not None)
