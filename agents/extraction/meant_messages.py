"""Which message "that" means in a wish to forget, such as "forget that". Pure."""

import re
from collections.abc import Sequence

from msgspec import Struct

from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.statements import readable_beginning, safe_sentences
from agents.models.offline.wishes import MIN_WORDS
from schemas.extraction.requests import ExtractionRequest, SliceMessage


class MeantMessage(Struct, frozen=True):
    """A message that a wish means. `named_as` is the wisher's name in it if another person said it."""

    message: SliceMessage
    named_as: str | None = None


def message_meant(request: ExtractionRequest, wish: SliceMessage) -> MeantMessage | None:
    """The message before the wish, in slice or overlap: the wisher's own, or another person's statement about the wisher. None
    if another person's statement is about anything else: then it is unclear what the wisher means. A guest may call
    themselves by anybody's name, so a guest's wish never means another person's message."""
    wisher = request.speaker(wish)
    for each in reversed(messages_before(request, wish)):
        if request.speaker(each) == wisher:
            return MeantMessage(each)
        if has_statement(each):
            names = () if wish.guest else names_of(request, wish)
            name = next((name for name in names if is_about(each.content, name)), None)
            return MeantMessage(each, name) if name else None
    return None


def messages_before(request: ExtractionRequest, wish: SliceMessage) -> list[SliceMessage]:
    """The users' messages before the wish."""
    said = (*request.overlap, *request.messages)
    before = said[: next(at for at, each in enumerate(said) if each.message_id == wish.message_id)]
    return [each for each in before if each.role == "user"]


def has_statement(message: SliceMessage) -> bool:
    """Whether a message may state something: "Really?" and "oh no" do not."""
    said = safe_sentences(readable_beginning(message.content))
    return any(len(each.split()) >= MIN_WORDS and not is_question(each) for each in said)


def names_of(request: ExtractionRequest, message: SliceMessage) -> Sequence[str]:
    """The names by which others may call the person who said the message: the whole name, or id, and the first name."""
    speaker = request.speaker(message)
    called = next((each.called for each in request.speakers if each.key == speaker), None) or ""
    names = dict.fromkeys((called.strip(), *called.split()[:1]))
    return [each[:1].upper() + each[1:] for each in names if each]


def is_about(content: str, name: str) -> bool:
    """Whether a message speaks of the person: "Marta told me", "Marta's mother". "Thanks, Marta!" only addresses them."""
    return re.search(rf"\b{re.escape(name)}(?:['’]?s\b|['’](?=\s)|(?=\s+[^\W\d_A-Z]))", content) is not None
