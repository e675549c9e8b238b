"""Short texts by rules: the most informative sentences of the full text, unchanged, so that nothing is invented."""

import re

from msgspec import Struct

from agents.models.answers.summaries import SENTENCE_BREAK
from agents.models.answers.texts import SHORT_TOKENS, fits, truncated
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.importance.importance_words import CLOSE, DEEP_FEELING, FEELING, TRIFLING, VITAL
from agents.privacy.scrub import scrub
from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CASUAL
from streams.windows.tokens.counting import TokenCount

DETAIL = re.compile(r"\d|(?<=[^.!?] )[A-ZÀ-Þ][\w'-]+")  # a number, or a name inside the sentence
OPENS = 3  # the first sentence states the topic
WEIGHTS = ((VITAL, 4), (DEEP_FEELING, 4), (FEELING, 2), (CLOSE, 2), (DETAIL, 2), (TRIFLING, -2))
FEELINGS_FIRST = 4  # added for a feeling if the policy wants feelings


class Sentence(Struct, frozen=True):
    place: int
    text: str
    weight: int


def short_text_by_rules(full_text: str, max_chars: int, feelings: bool, count_tokens: TokenCount) -> str:
    """Whole sentences in order, as many as fit. If none fits, the beginning of the best one; empty without a usable
    sentence."""
    best = sorted(sentences(full_text, feelings), key=lambda each: (-each.weight, each.place))
    chosen: list[Sentence] = []
    for each in best:
        trial = joined([*chosen, each])
        if len(trial) <= max_chars and fits(trial, SHORT_TOKENS, count_tokens):
            chosen.append(each)
    if not chosen and best:
        return truncated(best[0].text, max_chars, SHORT_TOKENS, count_tokens)
    return joined(chosen)


def sentences(full_text: str, feelings: bool) -> list[Sentence]:
    """The sentences without greetings, duplicates, and those that address a model or the memory."""
    line = scrub(" ".join(full_text.split())).text
    texts = dict.fromkeys(part for part in SENTENCE_BREAK.split(line) if part and not is_injection(part))
    sound = [text for text in texts if not detect("user", text).traits & CASUAL]
    return [Sentence(place, text, weight(text, feelings) + (0 if place else OPENS)) for place, text in enumerate(sound)]


def weight(text: str, feelings: bool) -> int:
    felt = FEELINGS_FIRST if feelings and (FEELING.search(text) or DEEP_FEELING.search(text)) else 0
    return felt + sum(points for pattern, points in WEIGHTS if pattern.search(text))


def joined(chosen: list[Sentence]) -> str:
    return " ".join(each.text for each in sorted(chosen, key=lambda each: each.place))
