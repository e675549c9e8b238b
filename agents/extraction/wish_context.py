"""Whether the messages before a short wish leave no doubt what it is about: "delete that" may mean a draft. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agents.extraction.meant_messages import said_before
from agents.models.offline.findings import findings
from agents.models.offline.statements import readable_beginning, safe_sentences
from agents.models.offline.wishes import ForgetWish
from schemas.extraction.requests import ExtractionRequest, SliceMessage

LATEST: Final = 4  # messages before a wish that may show a text
SHOWN_CHARS: Final = 400  # of a message that may be a text to work on
SHOWS_TEXT: Final = re.compile(
    r"\n\s*\S|```|[\"“„«][^\"“”„«»]{20,}|:\s*$|\b(?:here(?:'s| is| are| you go)|hier (?:ist|sind)|voici|aquí (?:tienes|está))\b",
    re.IGNORECASE,
)

# "Write a letter", "can you shorten it?", "kannst du den Text kürzen?"; not "I write novels".
REQUESTS_TEXT: Final = re.compile(
    r"(?:(?:^|[.!?\n]\s*|\b(?:please|pls|(?:can|could|would|will) you|help me(?: to)?|bitte|peux-tu|pouvez-vous|puedes)\s+)"
    r"(?:please )?(?:write|draft|compose|shorten|rewrite|rephrase|summari[sz]e|translate|edit|proofread|format|make it|schreibe?"
    r"|entwirf|kürze?|formuliere?|übersetze?|fasse?|rédige\w*|écri(?:s|re)|raccourci\w*|reformule\w*|tradui(?:s|re)|résume[rz]?"
    r"|escrib(?:e|ir)|redacta[r]?|acorta[r]?|traduc(?:e|ir)|resum(?:e|ir))"
    r"|\b(?:kannst|könntest|würdest|können|könnten) (?:du|sie)\b.{0,80}\b(?:schreiben|entwerfen|kürzen|formulieren|übersetzen"
    r"|zusammenfassen))\b",
    re.IGNORECASE,
)
TELLS_OF_ACTION: Final = re.compile(
    r"\b(?:added|put|created|booked|sent|scheduled|inserted|uploaded|wrote|updated|set (?:up|a)|hinzugefügt|eingetragen|erstellt"
    r"|gebucht|gesendet|angelegt|ajouté|créé|réservé|envoyé|añadid\w|cread\w|reservad\w|enviad\w|agregad\w)\b",
    re.IGNORECASE,
)


def is_certain(request: ExtractionRequest, message: SliceMessage, wish: ForgetWish) -> bool:
    """Whether the messages before the wish in `message` are what it needs. None of the latest shows a text, or runs a tool."""
    if wish.needs is None:
        return True
    before = said_before(request, message)[-LATEST:]
    if any(each.role == "tool" or shows_text(each.content) or is_about_work(each) for each in (*before, message)):
        return False
    if wish.needs == "statement":
        return follows_statement(request, message, before)
    return wish.needs == "no_draft" or not before or "?" not in before[-1].content


def shows_text(content: str) -> bool:
    """Whether a message has a text that a person may want changed."""
    return len(content) > SHOWN_CHARS or SHOWS_TEXT.search(content) is not None


def is_about_work(message: SliceMessage) -> bool:
    """Whether a user asks for a text, or the assistant tells of something that it did elsewhere: "delete that" may mean this."""
    return (REQUESTS_TEXT if message.role == "user" else TELLS_OF_ACTION).search(message.content) is not None


def follows_statement(request: ExtractionRequest, message: SliceMessage, before: Sequence[SliceMessage]) -> bool:
    """Whether the latest message of a person only states something about the speaker, who is the one with the wish."""
    latest = next((each for each in reversed(before) if each.role == "user"), None)
    return latest is not None and request.speaker(latest) == request.speaker(message) and only_states(latest)


def only_states(message: SliceMessage) -> bool:
    """Whether rules read a statement in each sentence of a message."""
    said = [each for each in safe_sentences(readable_beginning(message.content)) if len(each.split()) > 1]
    return bool(said) and all(any(findings(replace(message, content=each))) for each in said)
