"""Runs all detectors over one message, once, on arrival.

Cleaning and searching a text costs about as much as reading it.
"""

import re
from typing import Final

from msgspec import Struct

from schemas.conversations.messages import Message, Role
from streams.windows.detectors import casual, directive, error, lexicon
from streams.windows.detectors.cleaning import cleaned, flattened, inspected
from streams.windows.detectors.redundancy import fingerprint
from streams.windows.detectors.traits import (
    CASUAL,
    CORRECTION,
    DIRECTIVE,
    ERROR,
    GRATEFUL,
    LASTING,
    REFERENCE,
    SPECIFIC,
    TASK_BEGINS,
    TASK_COMPLETE,
    TOOL_CALL,
    TOOL_RESULT,
)

SPACES_IN_SHORT: Final = casual.MAX_WORDS + 4  # allows for spaces at ends of sentences
MIN_WORDS: Final = 12  # in a specific statement without a number or a name
_NUMBER_OR_NAME: Final = re.compile(r"\d|[\w,;:] [A-ZÀ-ÖØ-Þ][^\W\d_]")  # a name is a capital letter within a sentence
SUBSTANTIAL: Final = DIRECTIVE | ERROR | CORRECTION | TASK_COMPLETE | TASK_BEGINS | TOOL_CALL


class Detected(Struct, frozen=True, gc=False):
    """The result of the detectors: `traits`, and a `fingerprint` that equal texts share."""

    traits: int
    fingerprint: int


def detect_in(message: Message) -> Detected:
    """Runs `detect` on a message."""
    return detect(message.role, message.content, bool(message.tool_calls))


def detect(role: Role, text: str, calls_tools: bool = False) -> Detected:
    """The traits of a message and its fingerprint; the time is bounded for any length of text."""
    traits = TOOL_RESULT if role == "tool" else TOOL_CALL if calls_tools else 0
    if role == "system" or not text:
        return Detected(traits, 0)
    seen = inspected(text)
    clean = cleaned(seen)
    flat = flattened(clean)
    spaces = flat.count(b" ")
    words = (
        clean.decode("latin-1").split() if spaces <= SPACES_IN_SHORT else []
    )  # for longer texts the number of spaces is enough
    count = len(words) or spaces
    traits |= lexicon.fitting(role, count).traits(flat)
    if traits & DIRECTIVE and count <= directive.MAX_WORDS:
        traits |= LASTING
    if count > error.MAX_WORDS:
        ends = flattened(b"%b\n%b" % (clean[: error.END_CHARS], clean[-error.END_CHARS :]))
        traits |= lexicon.ENDS[role].traits(ends)
    if count <= casual.MAX_WORDS and role != "tool":
        traits = _casual(traits, words, seen)
    if role == "user" and not traits & CASUAL and is_specific(seen, count):
        traits |= SPECIFIC
    return Detected(traits, fingerprint(text, clean))


def _casual(traits: int, words: list[str], text: str) -> int:
    """Sets CASUAL, only on messages without any other trait."""
    said = traits & ~(CASUAL | GRATEFUL)
    if said & SUBSTANTIAL or said >= REFERENCE:
        return said
    if not words:
        return said | CASUAL if casual.wordless(text) else said
    grateful = traits & GRATEFUL and "?" not in text
    if not traits & CASUAL and not grateful and not casual.social(words):
        return said
    return said if not text.isascii() and casual.has_unknown_script(text) else said | CASUAL


def is_specific(text: str, words: int) -> bool:
    """Whether a user's text states something and holds a number, a name, or at least `MIN_WORDS` of its `words`.

    A text that ends in a question mark states nothing. German nouns count as names.
    """
    if text.rstrip().endswith("?"):
        return False
    return words >= MIN_WORDS or _NUMBER_OR_NAME.search(text) is not None
