"""Summaries without a model: the most informative sentences of a slice, unchanged, and so in their own language."""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from msgspec import Struct

from agents.models.answers.summaries import DEFAULT_PRIVACY, fitted_summary, split_sentences
from agents.models.dates.dates import local
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.findings.sentence_findings import apply_rules
from agents.models.offline.statements import language_rules, readable_beginning, safe_sentences
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Privacy
from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CASUAL
from streams.windows.pruning.importance import base_importance
from streams.windows.tokens.counting import TokenCount

# Scores in tenths, added to those of a message's importance.
FIRST_SENTENCE = 3  # the user's first sentence states the topic
HAS_STATEMENT = 3
MARKED_IMPORTANT = 3
BY_USER = 1
MIN_BYTES = 9  # in UTF-8; a Chinese character has three
SHORTLISTED = 100  # sentences checked by rules, which blocks the event loop for a third of a millisecond each


class ScoredSentence(Struct, frozen=True):
    """A sentence of a message with a first score in tenths. `place` is its place among all sentences."""

    place: int
    text: str
    tenths: int
    message: SliceMessage


def excerpt(
    request: ExtractionRequest, max_tokens: int, count_tokens: TokenCount, privacy: Privacy = DEFAULT_PRIVACY
) -> str:
    """The earlier summary and this slice's sentences; each gets at least half of the tokens if it needs them. Never raises."""
    earlier = fitted_summary(request.summary, max_tokens, count_tokens, privacy)
    room = max_tokens - min(count_tokens(earlier), max_tokens // 2)
    known = set(split_sentences(earlier))
    chosen = best_sentences(
        [each for each in scored_sentences(request.messages) if each.text not in known], room, count_tokens
    )
    latest = fitted_summary(" ".join(chosen), room, count_tokens, privacy)
    if not latest:
        return earlier
    earlier = fitted_summary(request.summary, max_tokens - count_tokens(latest) - 1, count_tokens, privacy)
    return fitted_summary(f"{earlier} {latest}".strip(), max_tokens, count_tokens, privacy)


def best_sentences(candidates: Sequence[ScoredSentence], room: int, count_tokens: TokenCount) -> list[str]:
    """Sentences of at most `room` tokens in their original order; the best one, of any length, if none fits."""
    best = ranked(candidates)
    chosen: list[ScoredSentence] = []
    for each in best:
        cost = count_tokens(each.text) + 1
        if cost <= room:
            chosen.append(each)
            room -= cost
    return [each.text for each in sorted(chosen or best[:1], key=attrgetter("place"))]


def ranked(candidates: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The sentences by score, the earlier of equals first."""
    shortlist = sorted(candidates, key=lambda each: (-each.tenths, each.place))[:SHORTLISTED]
    bonus = {each.place: HAS_STATEMENT if has_statement(each) else 0 for each in shortlist}
    return sorted(shortlist, key=lambda each: (-each.tenths - bonus[each.place], each.place))


def has_statement(sentence: ScoredSentence) -> bool:
    """Whether the rules find a statement about the user in the sentence."""
    message = sentence.message
    rules = language_rules(sentence.text, message.language) if message.role == "user" else None
    return rules is not None and any(apply_rules(rules, sentence.text, local(message.timestamp, message.time_zone)))


def scored_sentences(messages: Sequence[SliceMessage]) -> Iterator[ScoredSentence]:
    """The sentences of users and assistants, without duplicates and small talk."""
    seen: set[str] = set()
    opened = False
    for message in messages:
        for text in sentences_of(message):
            traits = detect(message.role, text).traits
            if text.casefold() in seen or traits & CASUAL:
                continue
            opens = message.role == "user" and not opened
            opened = opened or opens
            yield ScoredSentence(
                len(seen),
                text,
                base_importance(traits) + (FIRST_SENTENCE if opens else 0) + role_weight(message),
                message,
            )
            seen.add(text.casefold())


def role_weight(message: SliceMessage) -> int:
    """The bonus of a sentence for its speaker and its mark, in tenths."""
    return (BY_USER if message.role == "user" else 0) + (MARKED_IMPORTANT if message.important else 0)


def sentences_of(message: SliceMessage) -> Iterator[str]:
    """The sentences of a message; none of a message that addresses the memory or a model."""
    content = readable_beginning(message.content)
    if message.role not in ("user", "assistant") or is_injection(content):
        return
    for sentence in safe_sentences(content):
        yield from (part for part in split_sentences(sentence) if len(part.encode(errors="surrogatepass")) >= MIN_BYTES)
