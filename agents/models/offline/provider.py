"""The deterministic provider: rules instead of a model. The embedded default, and what is left when no model answers."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import structs

from agents.models.answers.candidates import Draft, check
from agents.models.answers.speakers import about_user, called
from agents.models.answers.summaries import estimated_tokens
from agents.models.answers.texts import FULL_CHARS, UnusableText
from agents.models.dates.dates import local
from agents.models.offline.earnest import said_in_earnest
from agents.models.offline.excerpt import excerpt
from agents.models.offline.experience import experiences, own_sentences
from agents.models.offline.note import note
from agents.models.offline.rules.condensing import condensed
from agents.models.offline.rules.finer_kinds import finer_kind
from agents.models.offline.rules.framing import own_part
from agents.models.offline.rules.injection import is_injection
from agents.models.offline.rules.keeping import decide, least
from agents.models.offline.rules.matter import stated
from agents.models.offline.rules.rating import rated
from agents.models.offline.rules.reading import Finding, read
from agents.models.offline.rules.relations import relate
from agents.models.offline.statements import beginning, safe_sentences, tongue_of
from agents.models.offline.wishes import wishes_in
from agents.models.port import Answer, Compaction, Context, Rating, Resolution, ShortText, Subject, Summary
from agents.models.prompts import compaction, rating, shortening
from schemas.errors import Rejected
from schemas.extraction.candidates import Candidate
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY, Policy
from streams.windows.tokens.counting import TokenCount

MODEL = "rules-1"
# Memories, each with each: 0.1 s in which nothing else goes on. Of 200 it would be one second.
MOST_COMPARED = 60
# A sender's mark says that a message matters, not how much its parts do.
MARKED_IMPORTANT = 0.15


class OfflineProvider:
    """Reads first-person statements of users in English, German, French and Spanish; other languages yield nothing.

    Summaries are excerpts, in any language. Without `count_tokens` their tokens are estimated.
    """

    name = "offline"
    leaves_machine = False

    def __init__(self, count_tokens: TokenCount = estimated_tokens) -> None:
        self._count_tokens = count_tokens

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Never raises; the same request and context give the same answer. Async only because the port is."""
        own_words = said_in_earnest(request.messages, request.overlap)
        numbered = (
            (number, structs.replace(each, content=own_words[number]))
            for number, each in enumerate(request.messages, start=1)
            if number in own_words
        )
        names = called(request.speakers, context.policy.privacy)
        drafts = [
            draft(number, language, message, finding, own, context.policy)
            for number, message in numbered
            for own in (own_memories(message, request, context.related, names),)
            for language, finding in findings(message, context.policy.feelings)
        ]
        if context.policy.attributed:
            drafts += [*matter(request.messages, context.related), *experiences(request.messages)]
        if context.policy.note:
            drafts = note(drafts, request, names, context.policy.max_text_chars)
        checked = check(drafts, request, context, self._count_tokens)
        return Answer(provider=self.name, model=MODEL, proposals=checked.proposals, rejected=checked.rejected)

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        """Never raises; the same request gives the same summary."""
        text = excerpt(request, policy.window.summary_tokens, self._count_tokens, policy.privacy)
        return Summary(provider=self.name, model=MODEL, text=text)

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        """Never raises for at least one memory; the same memories give the same step."""
        memories = compaction.candidates(memories, MOST_COMPARED)
        try:
            step = compaction.step(decide(memories, policy.max_text_chars), memories, policy, self._count_tokens)
        except UnusableText:  # what a merged text may not say, such as a sentence that instructs, is stored already
            step = compaction.step(least(memories), memories, policy, self._count_tokens)
        return Compaction(
            provider=self.name,
            model=MODEL,
            action=step.action,
            memory_id=step.memory_id,
            reason=step.reason,
            text=step.text,
            absorbs=step.absorbs,
        )

    async def score(self, subject: Subject, policy: Policy) -> Rating:
        """Never raises; the same subject has the same rating."""
        found = rating.scored(rated(subject), policy.privacy)
        return Rating(provider=self.name, model=MODEL, points=found.points, reason=found.reason)

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        """Raises Rejected, with the reason, for a text of which nothing may be kept."""
        text = condensed(full_text[:FULL_CHARS], policy.max_text_chars, policy.feelings, self._count_tokens)
        try:
            text = shortening.short(text, full_text, policy, self._count_tokens)
        except UnusableText as unfit:
            raise Rejected(str(unfit), "the full text says nothing that may be kept in a short one") from unfit
        return ShortText(provider=self.name, model=MODEL, text=text)

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, namespace: str
    ) -> Resolution:
        """No verdicts: the curator's own rules decide."""
        return Resolution(provider=self.name, model=MODEL)

    async def trouble(self) -> None:
        """Rules are always there."""

    async def close(self) -> None:
        """Nothing to end."""


def findings(message: SliceMessage, feelings: bool = False) -> Iterator[tuple[str, Finding]]:
    """What a message says about its speaker; nothing unless a user said it, in a language with rules, without tricks. What it
    asks to have forgotten it does not say."""
    if message.role != "user":
        return
    content = beginning(wishes_in(message).rest)
    if is_injection(content):
        return
    content = own_part(content)
    tongue = tongue_of(content, message.language)
    if tongue is None:
        return
    said_at = local(message.timestamp, message.time_zone)
    for sentence in safe_sentences(content):
        yield from ((tongue.code, finding) for finding in read(tongue, sentence, said_at, feelings))


def matter(messages: Sequence[SliceMessage], related: Sequence[Memory]) -> Iterator[Draft]:
    """What the assistant and tools state about the matter, compared with what they stated before."""
    known = {number: memory for number, memory in enumerate(related, 1) if memory.attributed_to is not None}
    for number, message in enumerate(messages, start=1):
        if message.role in ("assistant", "tool"):
            said_at = local(message.timestamp, message.time_zone)
            found = (each for sentence in own_sentences(message) for each in stated(sentence, said_at))
            yield from (draft(number, language, message, finding, known, DEFAULT_POLICY) for language, finding in found)


def own_memories(
    message: SliceMessage, request: ExtractionRequest, related: Sequence[Memory], names: Mapping[str | None, str]
) -> dict[int, Memory]:
    """The related memories that what a message says may repeat or contradict, by their numbers: those of its speaker, as they
    would say "User". Of what several people share only those that this one said: rules know nothing but facts about people."""
    numbered = enumerate(related, 1)
    if not request.speakers:
        return dict(numbered)
    user_id = request.speaker(message)
    fed = request.fed_by({user_id})
    return {
        number: structs.replace(memory, text=about_user(memory.text, names.get(user_id, "")))
        for number, memory in numbered
        if memory.namespace in fed and all(source.user_id in (None, user_id) for source in memory.sources)
    }


def draft(
    number: int, language: str, message: SliceMessage, finding: Finding, own: Mapping[int, Memory], policy: Policy
) -> Draft:
    relation, numbers = relate(finding, tuple(own.values())), tuple(own)
    return Draft(
        kind=finer_kind(finding.kind, finding.text, finding.tags, policy.kinds),
        text=finding.text,
        messages=[number],
        confidence=finding.confidence,
        importance=min(1.0, finding.importance + (MARKED_IMPORTANT if message.important else 0.0)),
        tags=list(finding.tags),
        event_time=written(finding.event_time),
        valid_from=written(finding.valid_from),
        valid_until=written(finding.valid_until),
        language=language,
        repeats=None if relation.repeats is None else numbers[relation.repeats],
        contradicts=None if relation.contradicts is None else numbers[relation.contradicts],
    )


def written(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
