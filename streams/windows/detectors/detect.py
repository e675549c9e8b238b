"""Runs all detectors over one message, once, on arrival.

A text is cleaned and cut into words; where none of them triggers a rule, which is the common case, nothing else happens.
"""

from typing import Final, NamedTuple

from schemas.messages import Role
from streams.windows.detectors import casual, directive, error, lexicon
from streams.windows.detectors.cleaning import cleaned, flattened, inspected
from streams.windows.detectors.lexicon import Lexicon
from streams.windows.detectors.redundancy import fingerprint
from streams.windows.detectors.traits import (
    CASUAL,
    CORRECTION,
    DIRECTIVE,
    ERROR,
    GRATEFUL,
    LASTING,
    REFERENCE,
    TASK_BEGINS,
    TASK_COMPLETE,
    TOOL_CALL,
    TOOL_RESULT,
)

SUBSTANTIAL: Final = DIRECTIVE | ERROR | CORRECTION | TASK_COMPLETE | TASK_BEGINS | TOOL_CALL


class Found(NamedTuple):
    """What a message's text says: `traits`, and a `fingerprint` that equal texts share."""

    traits: int
    fingerprint: int


def detect(role: Role, text: str, calls_tools: bool = False) -> Found:
    """The traits of a message and its fingerprint; the time is bounded whatever the text's length."""
    traits = TOOL_RESULT if role == "tool" else TOOL_CALL if calls_tools else 0
    if role == "system" or not text:
        return Found(traits, 0)
    seen = inspected(text)
    clean = cleaned(seen)
    words = clean.split()
    short = len(words) <= casual.MOST_WORDS
    rules = lexicon.fitting(role, len(words))
    triggered = rules.words.intersection(words)
    if triggered:
        traits |= rules.traits(triggered, flattened(clean))
        if traits & DIRECTIVE and len(words) <= directive.MOST_WORDS:
            traits |= LASTING
    if len(words) > error.MOST_WORDS:
        traits |= _at_the_ends(clean, lexicon.ENDS[role])
    if short and role != "tool":
        traits = _casual(traits, words, seen)
    return Found(traits, fingerprint(text, clean))


def _at_the_ends(clean: str, rules: Lexicon) -> int:
    ends = f"{clean[: error.END_CHARS]}\n{clean[-error.END_CHARS :]}"
    triggered = rules.words.intersection(ends.split())
    return rules.traits(triggered, flattened(ends)) if triggered else 0


def _casual(traits: int, words: list[str], text: str) -> int:
    """Settles CASUAL: never of a message that says anything else."""
    said = traits & ~(CASUAL | GRATEFUL)
    if said & SUBSTANTIAL or said >= REFERENCE:
        return said
    if not words:
        return said | CASUAL if casual.wordless(text) else said
    grateful = traits & GRATEFUL and "?" not in text
    if not traits & CASUAL and not grateful and not casual.social(words):
        return said
    return said if not text.isascii() and casual.foreign(text) else said | CASUAL
