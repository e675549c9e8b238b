"""The deterministic provider: rules, and a small classifier of sentences, instead of a language model. The embedded default, and
the fallback when no model answers."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import structs

from agents.models.answers.candidates import check_drafts
from agents.models.answers.drafts import Draft
from agents.models.answers.speakers import display_names, with_user_for_name
from agents.models.answers.summaries import estimated_tokens
from agents.models.answers.texts import FULL_CHARS, UnusableText
from agents.models.dates.dates import local
from agents.models.offline.classified_messages import classified_messages, parsed_messages
from agents.models.offline.corrections import with_corrections
from agents.models.offline.excerpt import excerpt
from agents.models.offline.experience import experiences, trusted_sentences
from agents.models.offline.findings import ParsedMessage, Scores, findings_in
from agents.models.offline.long_messages import without_middles
from agents.models.offline.note import note
from agents.models.offline.own_statements import own_statements
from agents.models.offline.rules.engine.rule_engine import Finding
from agents.models.offline.rules.findings.classified_statements import ONE_SPEAKER, SEVERAL_SPEAKERS
from agents.models.offline.rules.findings.impersonal_statements import impersonal_findings
from agents.models.offline.rules.findings.relations import relate
from agents.models.offline.rules.importance.compaction import decide_by_rules, delete_least_important
from agents.models.offline.rules.importance.condensing import short_text_by_rules
from agents.models.offline.rules.importance.rating import rating_by_rules
from agents.models.offline.rules.tables.finer_kinds import finer_kind
from agents.models.port import (
    Answer,
    Compaction,
    Context,
    MemoryToRate,
    Rating,
    Resolution,
    SentenceClassifier,
    ShortText,
    Summary,
)
from agents.models.prompts import compaction, rating, shortening
from schemas.counts import counted
from schemas.errors import Rejected
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY, Policy
from streams.windows.tokens.counting import TokenCount

log = logging.getLogger(__name__)

MODEL = "rules-3"
# Memories compared in pairs, which blocks the event loop for 0.1 s; 200 would take one second.
MAX_COMPARED = 60
# Added for a message that its sender marked important.
MARKED_IMPORTANT = 0.15


class OfflineProvider:
    """Extracts first-person statements of users in English, German, French and Spanish; none in other languages.

    Without a `classifier` the rules alone read messages. Summaries are excerpts, in any language. Without `count_tokens`
    their tokens are estimated.
    """

    name = "offline"
    leaves_machine = False
    shares_calls = False

    def __init__(
        self, count_tokens: TokenCount = estimated_tokens, classifier: SentenceClassifier | None = None
    ) -> None:
        self._count_tokens = count_tokens
        self._classifier = classifier

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Never raises; the same request and context give the same answer. Async only to implement the port."""
        request = without_middles(request)
        numbered, scores = await self._read(request)
        speakers = {each.user_id for each in request.messages if each.role == "user"}
        thresholds = SEVERAL_SPEAKERS if len(speakers) > 1 else ONE_SPEAKER
        names = display_names(request.speakers, context.policy.privacy)
        drafts = [
            draft_of(number, language, each.message, finding, own, context.policy)
            for number, each in numbered.items()
            for own in (own_memories(each.message, request, context.related, names),)
            for language, finding in findings_in(each, context.policy.feelings, scores.get(number, ()), thresholds)
        ]
        drafts = with_corrections(request, drafts)
        if context.policy.attributed:
            drafts += [*impersonal_drafts(request.messages, context.related), *experiences(request.messages)]
        if context.policy.note:
            drafts = note(drafts, request, names, context.policy.max_text_chars)
        checked = check_drafts(drafts, request, context, self._count_tokens)
        return Answer(provider=self.name, model=MODEL, proposals=checked.proposals, rejected=checked.rejected)

    async def _read(self, request: ExtractionRequest) -> tuple[dict[int, ParsedMessage], dict[int, Scores]]:
        """The users' messages with words of their own and the classifications of their sentences, by message number. If the
        classifier fails, the rules alone decide."""
        if self._classifier is not None:
            try:
                return await classified_messages(self._classifier, request)
            except Exception:
                users = counted(sum(each.role == "user" for each in request.messages), "messages")
                log.exception("classifying the sentences of %s failed: the rules alone read them", users)
        return parsed_messages(request, own_statements(request.messages, request.overlap)), {}

    async def extract_together(self, slices: Sequence[tuple[ExtractionRequest, Context]]) -> tuple[Answer, ...]:
        """Extracts from each slice alone: sharing a call would save nothing."""
        return tuple([await self.extract(request, context) for request, context in slices])

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        """Never raises; the same request gives the same summary."""
        text = excerpt(request, policy.window.summary_tokens, self._count_tokens, policy.privacy)
        return Summary(provider=self.name, model=MODEL, text=text)

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        """Never raises for at least one memory; the same memories give the same step."""
        memories = compaction.memories_to_show(memories, MAX_COMPARED)
        try:
            step = compaction.checked_step(
                decide_by_rules(memories, policy.max_text_chars), memories, policy, self._count_tokens
            )
        except UnusableText:  # a stored memory may contain text that a new one must not, such as an instruction
            step = compaction.checked_step(delete_least_important(memories), memories, policy, self._count_tokens)
        return Compaction(
            provider=self.name,
            model=MODEL,
            action=step.action,
            memory_id=step.memory_id,
            reason=step.reason,
            text=step.text,
            absorbs=step.absorbs,
        )

    async def score(self, subject: MemoryToRate, policy: Policy) -> Rating:
        """Never raises; the same subject gets the same rating."""
        found = rating.checked_points(rating_by_rules(subject), policy.privacy)
        return Rating(provider=self.name, model=MODEL, points=found.points, reason=found.reason)

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        """Raises Rejected, with the reason, if no part of the text may be stored."""
        text = short_text_by_rules(full_text[:FULL_CHARS], policy.max_text_chars, policy.feelings, self._count_tokens)
        try:
            text = shortening.checked_short_text(text, full_text, policy, self._count_tokens)
        except UnusableText as unfit:
            raise Rejected(str(unfit), "no part of the full text may be kept as a short text") from unfit
        return ShortText(provider=self.name, model=MODEL, text=text)

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        """Gives no verdicts: the curator's own rules decide."""
        return Resolution(provider=self.name, model=MODEL)

    async def unavailable_reason(self) -> None:
        """None: rules are always available."""

    async def close(self) -> None:
        """Closes the classifier."""
        if self._classifier is not None:
            self._classifier.close()


def impersonal_drafts(messages: Sequence[SliceMessage], related: Sequence[Memory]) -> Iterator[Draft]:
    """Statements of the assistant and tools about facts, compared with their earlier ones."""
    known = {number: memory for number, memory in enumerate(related, 1) if memory.attributed_to is not None}
    for number, message in enumerate(messages, start=1):
        if message.role in ("assistant", "tool"):
            said_at = local(message.timestamp, message.time_zone)
            found = (each for sentence in trusted_sentences(message) for each in impersonal_findings(sentence, said_at))
            yield from (
                draft_of(number, language, message, finding, known, DEFAULT_POLICY) for language, finding in found
            )


def own_memories(
    message: SliceMessage, request: ExtractionRequest, related: Sequence[Memory], names: Mapping[str | None, str]
) -> dict[int, Memory]:
    """The related memories that the message may repeat or contradict, by number: the memories of its speaker, with "User" instead
    of the name. Of memories that several people share, only those from this person's messages."""
    numbered = enumerate(related, 1)
    if not request.speakers:
        return dict(numbered)
    user_id = request.speaker(message)
    fed = request.fed_by({user_id})
    return {
        number: structs.replace(memory, text=with_user_for_name(memory.text, names.get(user_id, "")))
        for number, memory in numbered
        if memory.namespace in fed and all(source.user_id in (None, user_id) for source in memory.sources)
    }


def draft_of(
    number: int, language: str, message: SliceMessage, finding: Finding, own: Mapping[int, Memory], policy: Policy
) -> Draft:
    """The draft of a finding in the message with this number. `own` are the memories that it may repeat or contradict."""
    relation, numbers = relate(finding, tuple(own.values())), tuple(own)
    return Draft(
        kind=finer_kind(finding.kind, finding.text, finding.tags, policy.kinds),
        text=finding.text,
        messages=[number],
        confidence=finding.confidence,
        importance=min(1.0, finding.importance + (MARKED_IMPORTANT if message.important else 0.0)),
        tags=list(finding.tags),
        event_time=iso_or_none(finding.event_time),
        valid_from=iso_or_none(finding.valid_from),
        valid_until=iso_or_none(finding.valid_until),
        language=language,
        repeats=None if relation.repeats is None else numbers[relation.repeats],
        contradicts=None if relation.contradicts is None else numbers[relation.contradicts],
    )


def iso_or_none(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
