"""The checks on what a provider answers, the same for all: shape, provenance, ranges, kinds, lengths, repeats, secrets.

What is valid is kept, whatever came beside it; what is not is counted by reason.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from agents.llm.dates import local
from agents.llm.kinds import nearest
from agents.llm.port import Context, Proposal
from agents.llm.scrub import scrub, storable
from schemas.policies import Privacy
from schemas.requests import ExtractionRequest, SliceMessage

# A text this many times too long is not a memory that ran over but something else.
HOPELESSLY_LONG = 10
BLANK = re.compile(r"\s+")
MARKS = re.compile(r"[\W_]+", re.UNICODE)
PLACEHOLDERS = re.compile(r"\[[A-Z_]+\]")


class Draft(Struct, frozen=True, kw_only=True):
    """A proposal as a provider writes it: messages and related memories by their numbers in the prompt, from 1."""

    kind: str
    text: str
    messages: list[int]
    confidence: float
    importance: float = 0.5
    kinds: list[str] = []
    tags: list[str] = []
    context: str | None = None
    full_text: str | None = None
    event_time: str | None = None
    language: str | None = None
    repeats: int | None = None
    refines: int | None = None
    contradicts: int | None = None


class Checked(Struct, frozen=True):
    """What passed, in order, and how many failed, by reason."""

    proposals: tuple[Proposal, ...]
    rejected: dict[str, int]


class Unfit(Exception):
    """One draft fails a check; its argument is the reason."""


def check(drafts: Iterable[object], request: ExtractionRequest, context: Context) -> Checked:
    """Drafts (Draft, or builtins out of JSON) as proposals about this slice.

    Reasons: `schema`, `provenance` (no user's message of the slice), `range`, `kind`, `empty`, `length`, `secret` (nothing left
    beside a credential). Repeats are folded and count as nothing. Related numbers that name no memory are dropped.
    """
    kept: list[Proposal] = []
    rejected: Counter[str] = Counter()
    for draft in drafts:
        try:
            kept.append(proposal(scrubbed(shaped(draft), context.policy.privacy), request, context))
        except Unfit as unfit:
            rejected[str(unfit)] += 1
    return Checked(folded(kept), dict(rejected))


def shaped(draft: object) -> Draft:
    if isinstance(draft, Draft):
        return draft
    try:
        converted = msgspec.convert(draft, Draft)
        msgspec.json.encode(converted)
    # A model may write half of a surrogate pair, or a number of any length: neither can be stored or sent.
    except (msgspec.ValidationError, UnicodeEncodeError, OverflowError) as exc:
        raise Unfit("schema") from exc
    return converted


def proposal(draft: Draft, request: ExtractionRequest, context: Context) -> Proposal:
    sources = cited(draft.messages, request.messages)
    if not (0.0 <= draft.confidence <= 1.0 and 0.0 <= draft.importance <= 1.0):
        raise Unfit("range")
    allowed = context.policy.kinds
    kind = nearest(draft.kind, allowed)
    if kind is None:
        raise Unfit("kind")
    text, full_text = fitted(draft.text, draft.full_text, context.policy.max_text_chars)
    further = (nearest(name, allowed) for name in draft.kinds)
    return Proposal(
        kind=kind,
        text=text,
        message_ids=tuple(dict.fromkeys(source.message_id for source in sources)),
        confidence=draft.confidence,
        importance=draft.importance,
        kinds=tuple(dict.fromkeys(name for name in further if name is not None and name != kind)),
        tags=tuple(dict.fromkeys(tag.strip().lower() for tag in draft.tags if tag.strip())),
        context=draft.context or None,
        full_text=full_text,
        event_time=moment(draft.event_time, sources[0]),
        language=draft.language or None,
        repeats=related(draft.repeats, context),
        refines=related(draft.refines, context),
        contradicts=related(draft.contradicts, context),
    )


def cited(numbers: list[int], messages: tuple[SliceMessage, ...]) -> list[SliceMessage]:
    """The messages of the slice that the numbers name; others are passed over.

    One of them must be a user's: what assistants, systems and tools say is no memory, however well it is cited.
    """
    found = [messages[number - 1] for number in numbers if 1 <= number <= len(messages)]
    if not any(message.role == "user" for message in found):
        raise Unfit("provenance")
    return found


def fitted(text: str, full_text: str | None, limit: int) -> tuple[str, str | None]:
    """A text of at most `limit` characters, cut at a word; what was cut stays readable as the full text."""
    text = BLANK.sub(" ", text).strip()
    if not MARKS.sub("", text):
        raise Unfit("empty")
    if len(text) <= limit:
        return text, full_text or None
    if len(text) > HOPELESSLY_LONG * limit:
        raise Unfit("length")
    short = text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:–-")
    return f"{short}…", full_text or text


def moment(written: str | None, source: SliceMessage) -> datetime | None:
    """UTC. A time without an offset is on the speaker's clock, a date without a time at noon; nonsense is no time at all."""
    if not written:
        return None
    try:
        parsed = datetime.fromisoformat(written if "T" in written or ":" in written else f"{written}T12:00:00")
        zone = local(source.timestamp, source.time_zone).tzinfo
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def related(number: int | None, context: Context) -> str | None:
    if number is None or not 1 <= number <= len(context.related):
        return None
    return context.related[number - 1].memory_id


def scrubbed(draft: Draft, privacy: Privacy) -> Draft:
    """Without secrets in any of its texts; a memory that is little more than its secret is refused.

    Before anything is cut to its length: half of a secret may not look like one.
    """
    text = scrub(draft.text, privacy.scrub)
    if text.found and len(MARKS.sub("", PLACEHOLDERS.sub("", text.text))) < len("userskeyis"):
        raise Unfit("secret")
    return msgspec.structs.replace(
        draft,
        text=text.text,
        context=draft.context and storable(draft.context, privacy),
        full_text=draft.full_text and storable(draft.full_text, privacy),
        tags=[tag for tag in draft.tags if storable(tag, privacy) == tag],
    )


def folded(proposals: list[Proposal]) -> tuple[Proposal, ...]:
    """One proposal for texts that differ in marks and case only: the surest, with the message ids of all."""
    by_text: dict[str, Proposal] = {}
    for item in proposals:
        key = MARKS.sub(" ", item.text).strip().casefold()
        by_text[key] = merged(by_text[key], item) if key in by_text else item
    return tuple(by_text.values())


def merged(first: Proposal, again: Proposal) -> Proposal:
    surest = max(first, again, key=lambda item: item.confidence)
    return msgspec.structs.replace(
        surest,
        message_ids=tuple(dict.fromkeys(first.message_ids + again.message_ids)),
        importance=max(first.importance, again.importance),
        tags=tuple(dict.fromkeys(first.tags + again.tags)),
        repeats=first.repeats or again.repeats,
        refines=first.refines or again.refines,
        contradicts=first.contradicts or again.contradicts,
    )
