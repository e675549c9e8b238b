"""Whether the messages before a short wish leave no doubt what it is about: "delete that" may mean a draft. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agents.extraction.meant_messages import said_before
from agents.models.offline.findings import findings
from agents.models.offline.statements import readable_beginning, safe_sentences
from agents.models.offline.wishes import MIN_WORDS, ForgetWish
from schemas.extraction.requests import ExtractionRequest, SliceMessage

LATEST: Final = 4  # messages before a wish that may show a text
SHOWN_CHARS: Final = 400  # of a message that may be a text to work on
SHOWS_TEXT: Final = re.compile(
    r"\n\s*\S|```|[\"“„«][^\"“”„«»]{20,}|:\s*$|\b(?:here(?:'s| is| are| you go)|hier (?:ist|sind)|voici|aquí (?:tienes|está))\b",
    re.IGNORECASE,
)


def is_certain(request: ExtractionRequest, message: SliceMessage, wish: ForgetWish) -> bool:
    """Whether the messages before the wish in `message` are what it needs. None of the latest shows a text, or runs a tool."""
    if wish.needs is None:
        return True
    before = said_before(request, message)[-LATEST:]
    if any(each.role == "tool" or shows_text(each.content) for each in before):
        return False
    if wish.needs == "statement":
        return follows_statement(request, message, before)
    return wish.needs == "no_draft" or not before or "?" not in before[-1].content


def shows_text(content: str) -> bool:
    """Whether a message has a text that a person may want changed."""
    return len(content) > SHOWN_CHARS or SHOWS_TEXT.search(content) is not None


def follows_statement(request: ExtractionRequest, message: SliceMessage, before: Sequence[SliceMessage]) -> bool:
    """Whether the latest message of a person only states something about the speaker, who is the one with the wish."""
    latest = next((each for each in reversed(before) if each.role == "user"), None)
    return latest is not None and request.speaker(latest) == request.speaker(message) and only_states(latest)


def only_states(message: SliceMessage) -> bool:
    """Whether rules read a statement in each sentence of a message."""
    said = [each for each in safe_sentences(readable_beginning(message.content)) if len(each.split()) >= MIN_WORDS]
    return bool(said) and all(any(findings(replace(message, content=each))) for each in said)
