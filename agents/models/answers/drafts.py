"""A memory as a provider writes it, before its references are resolved."""

import msgspec
from msgspec import Struct

from agents.models.answers.replies import UnreadableDraft
from agents.models.answers.texts import UnusableText, without_secrets
from agents.privacy.scrub import storable
from schemas.policies.policies import Privacy


class Draft(Struct, frozen=True, kw_only=True):
    """A memory as a provider writes it. `messages` and related memories are numbers in the prompt, from 1; messages before
    the slice have numbers up to 0. `corrects` are places in the answer, from 1. A missing importance is rated later.

    `forget` is the number of a message that asks to forget something; small models write 0 for none. A draft with `forget` is no
    memory: `text` describes what to forget, `messages` are the messages that state it, and `supersedes` the memories that do."""

    kind: str
    text: str
    messages: list[int]
    confidence: float
    importance: float | None = None
    kinds: list[str] = []
    tags: list[str] = []
    context: str | None = None
    full_text: str | None = None
    event_time: str | None = None
    language: str | None = None
    repeats: int | None = None
    refines: int | None = None
    contradicts: int | None = None
    supersedes: list[int] = []
    corrects: list[int] = []
    valid_from: str | None = None
    valid_until: str | None = None
    forget: int | None = None


def as_draft(draft: object) -> Draft:
    """Converts builtins from JSON to a Draft. Raises UnusableText: `unreadable`, `schema`."""
    if isinstance(draft, Draft):
        return draft
    if isinstance(draft, UnreadableDraft):
        raise UnusableText("unreadable")
    try:
        converted = msgspec.convert(draft, Draft)
        msgspec.json.encode(converted)
    # A model may write half of a surrogate pair or a huge number: neither can be encoded.
    except (msgspec.ValidationError, UnicodeEncodeError, OverflowError) as exc:
        raise UnusableText("schema") from exc
    return converted


def scrubbed(draft: Draft, privacy: Privacy) -> Draft:
    """The draft with secrets replaced in all texts. Raises UnusableText `secret` if little else is left.

    Scrubs before any text is cut: half of a secret may not look like one.
    """
    return msgspec.structs.replace(
        draft,
        text=without_secrets(draft.text, privacy),
        context=draft.context and storable(draft.context, privacy),
        full_text=draft.full_text and storable(draft.full_text, privacy),
        tags=[tag for tag in draft.tags if storable(tag, privacy) == tag],
    )
