"""Which message "that" means in a wish to forget, such as "forget that". Pure."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from msgspec import Struct

from agents.models.offline.named_persons import first_name, names, speaks_of
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.statements import readable_beginning, safe_sentences
from agents.models.offline.wishes import MIN_WORDS
from schemas.extraction.requests import ExtractionRequest, SliceMessage


class MeantMessage(Struct, frozen=True):
    """A message that a wish means. `named_as` is the wisher's name if another person said it."""

    message: SliceMessage
    named_as: str | None = None


def messages_meant(request: ExtractionRequest, wishes: Iterable[SliceMessage]) -> dict[str, MeantMessage]:
    """The message that each of these wishes means, by the wish's message id. Each text is read once."""
    is_statement = cache(has_statement)
    found = {each.message_id: message_meant(request, each, is_statement) for each in wishes}
    return {message_id: meant for message_id, meant in found.items() if meant is not None}


def message_meant(
    request: ExtractionRequest, wish: SliceMessage, is_statement: Callable[[str], bool]
) -> MeantMessage | None:
    """The message before the wish, in slice or overlap: the wisher's own, or another person's message about the wisher. None
    if another person's message states anything else, or has the wisher's name: then it is unclear what the wisher means."""
    wisher = request.speaker(wish)
    called = next((each.name or each.user_id for each in request.speakers if each.key == wisher), None) or ""
    name = unmistakable_name(request, wisher)
    for each in reversed(messages_before(request, wish)):
        if request.speaker(each) == wisher:
            return MeantMessage(each)
        if name and speaks_of(each.content, name):
            return MeantMessage(each, name)
        if names(each.content, called) or is_statement(each.content):
            return None
    return None


def unmistakable_name(request: ExtractionRequest, key: str | None) -> str | None:
    """The display name of a user whose first name no other speaker has. None for a guest, who may call themselves by anybody's
    name."""
    name = next((each.name for each in request.speakers if each.key == key and not each.guest), None)
    others = (each.name or each.user_id or "" for each in request.speakers if each.key != key)
    if not name or first_name(name).casefold() in {first_name(each).casefold() for each in others}:
        return None
    return " ".join(name.split())


def messages_before(request: ExtractionRequest, wish: SliceMessage) -> list[SliceMessage]:
    """The users' messages before the wish."""
    return [each for each in said_before(request, wish) if each.role == "user"]


def said_before(request: ExtractionRequest, wish: SliceMessage) -> Sequence[SliceMessage]:
    """All messages before the wish, in slice or overlap."""
    said = (*request.overlap, *request.messages)
    return said[: next(at for at, each in enumerate(said) if each.message_id == wish.message_id)]


def has_statement(content: str) -> bool:
    """Whether a message may state something: "Really?" and "oh no" do not."""
    said = safe_sentences(readable_beginning(content))
    return any(len(each.split()) >= MIN_WORDS and not is_question(each) for each in said)
