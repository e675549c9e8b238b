"""Checks the drafts of any provider: shape, provenance, ranges, kinds, lengths, duplicates, secrets.

Valid drafts become proposals, whatever else the answer has. Rejected ones are counted by reason.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from agents.models.answers.attribution import MAX_CONFIDENCE, freeing_word_caches, supporting_messages
from agents.models.answers.drafts import Draft, as_draft, scrubbed
from agents.models.answers.kinds import kind_of
from agents.models.answers.merging import MAX_SUPERSEDED, merge_equal
from agents.models.answers.speakers import display_names, mentions_user
from agents.models.answers.summaries import estimated_tokens
from agents.models.answers.texts import (
    CONTEXT_CHARS,
    FULL_CHARS,
    FULL_TOKENS,
    MAX_LENGTH_FACTOR,
    SHORT_TOKENS,
    UnusableText,
    one_line,
    truncated,
)
from agents.models.answers.times import times_of
from agents.models.answers.wishes import WishReader
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.one_language import is_wrong_language, language_written
from agents.models.port import Context, Proposal
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Policy, Privacy
from streams.windows.tokens.counting import TokenCount

MAX_TAGS = 16
TAG_CHARS = 64
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}")


class CheckedDrafts(Struct, frozen=True):
    """The valid proposals, in order, and the number of rejected ones by reason."""

    proposals: tuple[Proposal, ...]
    rejected: dict[str, int]


def check_drafts(
    drafts: Iterable[object],
    request: ExtractionRequest,
    context: Context,
    count_tokens: TokenCount = estimated_tokens,
    shown: Sequence[ExtractionRequest] = (),
) -> CheckedDrafts:
    """Converts drafts (Draft, or builtins from JSON) to proposals about the slice `request`. `shown` are all slices of its prompt
    if several slices share it.

    Reasons of rejection: `schema`; `unreadable`; `provenance` (no user of the slice said it; under a policy with
    `attributed`: no message of any role supports it, or it is another role's statement about a person); `overlap` (cites
    only messages before the slice); `speakers` (based on several people's messages, in a namespace of one of them); `range`;
    `kind`; `empty`; `length`; `secret` (little text besides a credential); `instruction` (addresses a model, or is based on
    a message of the assistant or a tool that does).

    Duplicates are merged and not counted. An unknown number of a message or memory is dropped and counted as `unknown_id`, an
    unreadable time as `time`; the draft stays. A correction is ignored if the corrected draft was rejected, or is based on
    other people's messages. Wishes to forget follow the memories.
    """
    valid: list[Proposal] = []
    wishes: list[Proposal] = []
    reader = WishReader(request, context, shown or (request,))
    rejected: Counter[str] = Counter()
    with freeing_word_caches():
        for number, draft in enumerate(drafts, start=1):
            try:
                sound = as_draft(draft)
                clean = scrubbed(sound, context.policy.privacy)
                if sound.forget:
                    wishes.append(reader.read(clean))
                else:
                    valid.append(proposal(clean, request, context, count_tokens, number))
                    rejected["time"] += times_of(sound, cited_messages(sound.messages, request)[0]).unreadable
            except UnusableText as unfit:
                rejected[str(unfit)] += 1
            else:
                rejected["unknown_id"] += unknown_ids(sound, request, context)
    proposals = (*merge_equal(valid, request), *wishes)
    return CheckedDrafts(proposals, {reason: count for reason, count in rejected.items() if count})


def unknown_ids(draft: Draft, request: ExtractionRequest, context: Context) -> int:
    """How many numbers of the draft name no message and no related memory."""
    named = (draft.repeats, draft.refines, draft.contradicts, *draft.supersedes)
    relations = (number for number in named if number is not None)
    first, last = 1 - len(request.overlap), len(request.messages)
    return sum(not 1 <= number <= len(context.related) for number in relations) + sum(
        not first <= number <= last for number in draft.messages
    )


def proposal(
    draft: Draft, request: ExtractionRequest, context: Context, count_tokens: TokenCount, number: int = 0
) -> Proposal:
    """The proposal of a valid draft, which has the place `number` in the answer. Raises UnusableText with the reasons of
    `check_drafts`."""
    cited = cited_messages(draft.messages, request)
    sources = supporting_messages(draft, cited, request, context)
    is_attributed = not any(source.role == "user" for source in sources)
    message_ids = tuple(dict.fromkeys(source.message_id for source in sources))
    speaker_ids = request.speakers_of(message_ids)
    namespaces = target_namespaces(speaker_ids, draft, request, names_several=context.policy.note)
    if not (0.0 <= draft.confidence <= 1.0 and (draft.importance is None or 0.0 <= draft.importance <= 1.0)):
        raise UnusableText("range")
    kind = kind_of(draft.kind, context.policy)
    if kind is None:
        raise UnusableText("kind")
    text, full_text = fitted_texts(draft.text, draft.full_text, context.policy, count_tokens)
    ended = superseded_ids(
        draft.supersedes if draft.contradicts is None else [draft.contradicts], context, namespaces, is_attributed
    )
    times = times_of(draft, sources[0])
    further = (kind_of(name, context.policy) for name in draft.kinds)
    tags = (tag.strip().lower() for tag in draft.tags)
    return Proposal(
        kind=kind,
        text=text,
        message_ids=message_ids,
        confidence=min(draft.confidence, MAX_CONFIDENCE) if is_attributed else draft.confidence,
        importance=draft.importance,
        kinds=tuple(dict.fromkeys(name for name in further if name is not None and name != kind)),
        tags=tuple(dict.fromkeys(tag for tag in tags if 0 < len(tag) <= TAG_CHARS))[:MAX_TAGS],
        context=fitted_context(draft.context, count_tokens),
        full_text=full_text,
        event_time=times.event_time,
        language=language_written(text, declared_language(draft), context.policy),
        repeats=related_memory_id(draft.repeats, context, namespaces),
        refines=related_memory_id(draft.refines, context, namespaces),
        contradicts=next(iter(ended), None),
        supersedes=ended
        if draft.contradicts is None
        else superseded_ids(draft.supersedes, context, namespaces, is_attributed),
        number=number,
        corrects=tuple(dict.fromkeys(draft.corrects))[:MAX_SUPERSEDED],
        valid_from=times.valid_from,
        valid_until=times.valid_until,
        namespaces=namespaces,
        speaker_ids=user_ids(speaker_ids, request),
        speaker_name=speaker_name(speaker_ids, request, context.policy.privacy),
    )


def declared_language(draft: Draft) -> str | None:
    return draft.language if LANGUAGE.fullmatch(draft.language or "") else None


def has_wrong_language(drafts: Iterable[object], policy: Policy) -> bool:
    """Whether a draft is in another language than the policy's. The model then gets a second attempt; after that the draft
    is accepted."""
    if policy.one_language is None:
        return False
    written = [each for draft in drafts if (each := draft_or_none(draft)) is not None]
    return any(is_wrong_language(each.text, declared_language(each), policy) for each in written)


def draft_or_none(draft: object) -> Draft | None:
    try:
        return as_draft(draft)
    except UnusableText:
        return None


def target_namespaces(
    speaker_ids: frozenset[str | None], draft: Draft, request: ExtractionRequest, *, names_several: bool = False
) -> tuple[str, ...]:
    """The namespaces that all of these speakers feed; empty where only one person speaks.

    Raises UnusableText `speakers` if the speakers have no common namespace, or if it is unclear which of several speakers "User"
    is. With `names_several` (a note about several people) an unclear "User" is accepted.
    """
    if not request.speakers:
        return ()
    namespaces, texts = request.fed_by(speaker_ids), (draft.text, draft.context, draft.full_text)
    is_ambiguous = len(speaker_ids) > 1 and not names_several and any(map(mentions_user, filter(None, texts)))
    if not namespaces or is_ambiguous:
        raise UnusableText("speakers")
    return namespaces


def user_ids(speaker_keys: frozenset[str | None], request: ExtractionRequest) -> tuple[str, ...]:
    """The user_ids of the speakers with these keys, if several people may speak. Guests have no user_id."""
    ids = {each.user_id for each in request.speakers if each.key in speaker_keys}
    return tuple(sorted(filter(None, ids)))


def speaker_name(speaker_ids: frozenset[str | None], request: ExtractionRequest, privacy: Privacy) -> str | None:
    """The speaker's name if a memory is based on one person's words and several people speak."""
    return display_names(request.speakers, privacy).get(next(iter(speaker_ids))) if len(speaker_ids) == 1 else None


def cited_messages(numbers: list[int], request: ExtractionRequest) -> list[SliceMessage]:
    """The slice's messages with these numbers. Raises UnusableText: `overlap` if all cited messages precede the slice (an earlier
    slice contained them), `provenance` if no number is known."""
    messages = request.messages
    found = [messages[number - 1] for number in numbers if 1 <= number <= len(messages)]
    if not found and any(-len(request.overlap) < number <= 0 for number in numbers):
        raise UnusableText("overlap")
    if not found:
        raise UnusableText("provenance")
    return found


def superseded_ids(
    numbers: Sequence[int], context: Context, namespaces: Collection[str], is_attributed: bool
) -> tuple[str, ...]:
    """The ids of the memories with these numbers, each once: they no longer hold. A statement that `is_attributed` to the
    assistant or a tool supersedes no memory of a user."""
    found = (related_memory_id(number, context, namespaces) for number in dict.fromkeys(numbers))
    users = {memory.memory_id for memory in context.related if memory.attributed_to is None}
    return tuple(each for each in found if each is not None and not (is_attributed and each in users))[:MAX_SUPERSEDED]


def fitted_texts(text: str, full_text: str | None, policy: Policy, count_tokens: TokenCount) -> tuple[str, str | None]:
    """The short text, cut at a word to the policy's characters and 500 tokens, and the full text if the policy stores one.

    If the short text was cut and there is no full text, the uncut text is the full text. A full text has at most 4,000 tokens.
    Raises UnusableText: `empty`, `instruction`, `length`.
    """
    line = one_line(text)
    if is_injection(line):
        raise UnusableText("instruction")
    if len(line) > MAX_LENGTH_FACTOR * policy.max_text_chars:
        raise UnusableText("length")
    short = truncated(line, policy.max_text_chars, SHORT_TOKENS, count_tokens)
    full = (full_text or "").strip() or (line if short != line else "")
    if not policy.full_text or not full or is_injection(full):
        return short, None
    return short, truncated(full, FULL_CHARS, FULL_TOKENS, count_tokens)


def fitted_context(context: str | None, count_tokens: TokenCount) -> str | None:
    """The context within its limits; None if it addresses a model."""
    if not context or is_injection(context):
        return None
    return truncated(context, CONTEXT_CHARS, SHORT_TOKENS, count_tokens)


def related_memory_id(number: int | None, context: Context, namespaces: Collection[str]) -> str | None:
    """The id of the related memory with this number; None for an unknown number, or a memory of another person's namespace."""
    if number is None or not 1 <= number <= len(context.related):
        return None
    memory = context.related[number - 1]
    return memory.memory_id if not namespaces or memory.namespace in namespaces else None
