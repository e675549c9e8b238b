"""Runs all detectors over one message, once, on arrival.

A text is cleaned and searched for what triggers a rule, which costs about as much as reading it.
"""

from typing import Final

from msgspec import Struct

from schemas.conversations.messages import Message, Role
from streams.windows.detectors import casual, directive, error, lexicon
from streams.windows.detectors.cleaning import cleaned, flattened, inspected
from streams.windows.detectors.redundancy import fingerprint
from streams.windows.detectors.specific import specific
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

SPACES_IN_SHORT: Final = casual.MOST_WORDS + 4  # some stand beside the end of a sentence
SUBSTANTIAL: Final = DIRECTIVE | ERROR | CORRECTION | TASK_COMPLETE | TASK_BEGINS | TOOL_CALL


class Detected(Struct, frozen=True, gc=False):
    """What a message's text says: `traits`, and a `fingerprint` that equal texts share."""

    traits: int
    fingerprint: int


def detect_in(message: Message) -> Detected:
    """What `detect` finds in a message."""
    return detect(message.role, message.content, bool(message.tool_calls))


def detect(role: Role, text: str, calls_tools: bool = False) -> Detected:
    """The traits of a message and its fingerprint; the time is bounded whatever the text's length."""
    traits = TOOL_RESULT if role == "tool" else TOOL_CALL if calls_tools else 0
    if role == "system" or not text:
        return Detected(traits, 0)
    seen = inspected(text)
    clean = cleaned(seen)
    flat = flattened(clean)
    spaces = flat.count(b" ")
    words = clean.decode("latin-1").split() if spaces <= SPACES_IN_SHORT else []  # of a longer text the spaces tell
    count = len(words) or spaces
    traits |= lexicon.fitting(role, count).traits(flat)
    if traits & DIRECTIVE and count <= directive.MOST_WORDS:
        traits |= LASTING
    if count > error.MOST_WORDS:
        ends = flattened(b"%b\n%b" % (clean[: error.END_CHARS], clean[-error.END_CHARS :]))
        traits |= lexicon.ENDS[role].traits(ends)
    if count <= casual.MOST_WORDS and role != "tool":
        traits = _casual(traits, words, seen)
    if role == "user" and not traits & CASUAL and specific(seen, count):
        traits |= SPECIFIC
    return Detected(traits, fingerprint(text, clean))


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
