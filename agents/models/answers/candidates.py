"""The checks on what a provider answers, the same for all: shape, provenance, ranges, kinds, lengths, repeats, secrets.

What is valid is kept, whatever came beside it; what is not is counted by reason.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from agents.models.answers.attribution import SUREST, attributed
from agents.models.answers.kinds import kind_of
from agents.models.answers.replies import Unreadable
from agents.models.answers.speakers import called, is_of_user
from agents.models.answers.summaries import estimated_tokens
from agents.models.answers.texts import (
    CONTEXT_CHARS,
    FULL_CHARS,
    FULL_TOKENS,
    HOPELESSLY_LONG,
    MARKS,
    SHORT_TOKENS,
    UnusableText,
    cut,
    one_line,
    without_secrets,
)
from agents.models.dates.dates import local
from agents.models.offline.rules.injection import is_injection
from agents.models.port import Context, Proposal
from agents.privacy.scrub import storable
from schemas.conversations.messages import is_storable
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Policy, Privacy
from streams.windows.tokens.counting import TokenCount

MOST_TAGS = 16
TAG_CHARS = 64
DAY_BEGINS = "00:00:00"
MOST_SUPERSEDED = 64
# A language tag (BCP 47); what else a model writes there is passed over, as nobody scrubs it.
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}")


class Draft(Struct, frozen=True, kw_only=True):
    """A proposal as a provider writes it: messages and related memories by their numbers in the prompt, from 1; messages
    before the slice have numbers up to 0. Without an importance it is rated later."""

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
    valid_from: str | None = None
    valid_until: str | None = None


class Checked(Struct, frozen=True):
    """What passed, in order, and how many failed, by reason."""

    proposals: tuple[Proposal, ...]
    rejected: dict[str, int]


def check(
    drafts: Iterable[object], request: ExtractionRequest, context: Context, count_tokens: TokenCount = estimated_tokens
) -> Checked:
    """Drafts (Draft, or builtins out of JSON) as proposals about this slice.

    Reasons: `schema`, `unreadable`, `provenance` (no user's message of the slice; under a policy with `attributed` none at
    all, or what somebody else says about a person), `overlap` (only of messages before it),
    `speakers` (it rests on messages of several people and would go to one of them), `range`, `kind`, `empty`, `length`, `secret`
    (nothing left beside a credential), `instruction` (it addresses a model).
    Repeats are folded and count as nothing. A number of a message or a memory that there is not is taken out, counted as
    `unknown_id`, and costs the memory nothing else: what was said stays true.
    """
    kept: list[Proposal] = []
    rejected: Counter[str] = Counter()
    for draft in drafts:
        try:
            sound = shaped(draft)
            kept.append(proposal(scrubbed(sound, context.policy.privacy), request, context, count_tokens))
        except UnusableText as unfit:
            rejected[str(unfit)] += 1
        else:
            rejected["unknown_id"] += unknown_ids(sound, request, context)
    return Checked(folded(kept, request), {reason: count for reason, count in rejected.items() if count})


def unknown_ids(draft: Draft, request: ExtractionRequest, context: Context) -> int:
    named = (draft.repeats, draft.refines, draft.contradicts, *draft.supersedes)
    relations = (number for number in named if number is not None)
    first, last = 1 - len(request.overlap), len(request.messages)
    return sum(not 1 <= number <= len(context.related) for number in relations) + sum(
        not first <= number <= last for number in draft.messages
    )


def shaped(draft: object) -> Draft:
    if isinstance(draft, Draft):
        return draft
    if isinstance(draft, Unreadable):
        raise UnusableText("unreadable")
    try:
        converted = msgspec.convert(draft, Draft)
        msgspec.json.encode(converted)
    # A model may write half of a surrogate pair, or a number of any length: neither can be stored or sent.
    except (msgspec.ValidationError, UnicodeEncodeError, OverflowError) as exc:
        raise UnusableText("schema") from exc
    return converted


def proposal(draft: Draft, request: ExtractionRequest, context: Context, count_tokens: TokenCount) -> Proposal:
    sources = cited(draft.messages, request)
    told = not any(source.role == "user" for source in sources)
    if told:
        attributed(draft.text, sources, context.policy)
    message_ids = tuple(dict.fromkeys(source.message_id for source in sources))
    sayers = request.sayers(message_ids)
    namespaces = fed_by(sayers, draft.text, request)
    if not (0.0 <= draft.confidence <= 1.0 and (draft.importance is None or 0.0 <= draft.importance <= 1.0)):
        raise UnusableText("range")
    kind = kind_of(draft.kind, context.policy)
    if kind is None:
        raise UnusableText("kind")
    text, full_text = fitted(draft.text, draft.full_text, context.policy, count_tokens)
    ended = superseded(
        draft.supersedes if draft.contradicts is None else [draft.contradicts], context, namespaces, told
    )
    further = (kind_of(name, context.policy) for name in draft.kinds)
    tags = (tag.strip().lower() for tag in draft.tags)
    return Proposal(
        kind=kind,
        text=text,
        message_ids=message_ids,
        confidence=min(draft.confidence, SUREST) if told else draft.confidence,
        importance=draft.importance,
        kinds=tuple(dict.fromkeys(name for name in further if name is not None and name != kind)),
        tags=tuple(dict.fromkeys(tag for tag in tags if 0 < len(tag) <= TAG_CHARS))[:MOST_TAGS],
        context=cut(draft.context, CONTEXT_CHARS, SHORT_TOKENS, count_tokens) if draft.context else None,
        full_text=full_text,
        event_time=moment(draft.event_time, sources[0]),
        language=draft.language if LANGUAGE.fullmatch(draft.language or "") else None,
        repeats=related(draft.repeats, context, namespaces),
        refines=related(draft.refines, context, namespaces),
        contradicts=next(iter(ended), None),
        supersedes=ended if draft.contradicts is None else superseded(draft.supersedes, context, namespaces, told),
        valid_from=moment(draft.valid_from, sources[0], DAY_BEGINS),
        valid_until=moment(draft.valid_until, sources[0], DAY_BEGINS),
        namespaces=namespaces,
        sayers=tuple(sorted(filter(None, sayers))) if request.speakers else (),
        said_by=said_by(sayers, request, context.policy.privacy),
    )


def fed_by(sayers: frozenset[str | None], text: str, request: ExtractionRequest) -> tuple[str, ...]:
    """The namespaces that all of these people feed, on whose words a memory rests; empty where only one person speaks.

    Raises Unfit for words of several people that would go to one of them, or that do not say whom they are about.
    """
    if not request.speakers:
        return ()
    namespaces = request.fed_by(sayers)
    if not namespaces or (len(sayers) > 1 and is_of_user(text)):
        raise UnusableText("speakers")
    return namespaces


def said_by(sayers: frozenset[str | None], request: ExtractionRequest, privacy: Privacy) -> str | None:
    """What the one person is called on whose words a memory rests, where several may."""
    return called(request.speakers, privacy).get(next(iter(sayers))) if len(sayers) == 1 else None


def cited(numbers: list[int], request: ExtractionRequest) -> list[SliceMessage]:
    """The messages of the slice that the numbers name; others are passed over. What only messages before the slice say was
    extracted with them."""
    messages = request.messages
    found = [messages[number - 1] for number in numbers if 1 <= number <= len(messages)]
    if not found and any(-len(request.overlap) < number <= 0 for number in numbers):
        raise UnusableText("overlap")
    if not found:
        raise UnusableText("provenance")
    return found


def superseded(numbers: Sequence[int], context: Context, namespaces: Collection[str], told: bool) -> tuple[str, ...]:
    """The memories that no longer hold, each once. What was `told` by no user ends nothing that a user said."""
    found = (related(number, context, namespaces) for number in dict.fromkeys(numbers))
    users = {memory.memory_id for memory in context.related if memory.attributed_to is None}
    return tuple(each for each in found if each is not None and not (told and each in users))[:MOST_SUPERSEDED]


def fitted(text: str, full_text: str | None, policy: Policy, count_tokens: TokenCount) -> tuple[str, str | None]:
    """A text within the policy's characters and 500 tokens, cut at a word, and the full text beside it if the policy has one.

    Under such a policy what was cut stays readable as the full text, at most 4,000 tokens of it.
    """
    line = one_line(text)
    if is_injection(line):
        raise UnusableText("instruction")
    if len(line) > HOPELESSLY_LONG * policy.max_text_chars:
        raise UnusableText("length")
    short = cut(line, policy.max_text_chars, SHORT_TOKENS, count_tokens)
    full = (full_text or "").strip() or (line if short != line else "")
    if not policy.full_text or not full or is_injection(full):
        return short, None
    return short, cut(full, FULL_CHARS, FULL_TOKENS, count_tokens)


def moment(written: str | None, source: SliceMessage, time_of_day: str = "12:00:00") -> datetime | None:
    """UTC. A time without an offset is on the speaker's clock, a date without a time at `time_of_day`; nonsense is no time."""
    if not written:
        return None
    try:
        parsed = datetime.fromisoformat(written if "T" in written or ":" in written else f"{written}T{time_of_day}")
        zone = local(source.timestamp, source.time_zone).tzinfo
        moment = (parsed if parsed.tzinfo else parsed.replace(tzinfo=zone)).astimezone(UTC)
        return moment if is_storable(moment) else None
    except (ValueError, OverflowError):
        return None


def related(number: int | None, context: Context, namespaces: Collection[str]) -> str | None:
    """Another person's memory says nothing about this one's."""
    if number is None or not 1 <= number <= len(context.related):
        return None
    memory = context.related[number - 1]
    return memory.memory_id if not namespaces or memory.namespace in namespaces else None


def scrubbed(draft: Draft, privacy: Privacy) -> Draft:
    """Without secrets in any of its texts; a memory that is little more than its secret is refused.

    Before anything is cut to its length: half of a secret may not look like one.
    """
    return msgspec.structs.replace(
        draft,
        text=without_secrets(draft.text, privacy),
        context=draft.context and storable(draft.context, privacy),
        full_text=draft.full_text and storable(draft.full_text, privacy),
        tags=[tag for tag in draft.tags if storable(tag, privacy) == tag],
    )


def folded(proposals: list[Proposal], request: ExtractionRequest) -> tuple[Proposal, ...]:
    """One proposal for texts of the same people that differ in marks and case only: the surest, with the message ids of all."""
    by_text: dict[tuple[str, frozenset[str | None]], Proposal] = {}
    for item in proposals:
        key = MARKS.sub(" ", item.text).strip().casefold(), request.sayers(item.message_ids)
        by_text[key] = merged(by_text[key], item) if key in by_text else item
    return tuple(by_text.values())


def merged(first: Proposal, again: Proposal) -> Proposal:
    surest = max(first, again, key=lambda item: item.confidence)
    return msgspec.structs.replace(
        surest,
        message_ids=tuple(dict.fromkeys(first.message_ids + again.message_ids)),
        importance=max((each for each in (first.importance, again.importance) if each is not None), default=None),
        tags=tuple(dict.fromkeys(first.tags + again.tags)),
        repeats=first.repeats or again.repeats,
        refines=first.refines or again.refines,
        contradicts=first.contradicts or again.contradicts,
        supersedes=tuple(dict.fromkeys(first.supersedes + again.supersedes))[:MOST_SUPERSEDED],
        valid_from=first.valid_from or again.valid_from,
        valid_until=first.valid_until or again.valid_until,
    )
