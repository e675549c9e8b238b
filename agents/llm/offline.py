"""The deterministic provider: rules instead of a model. The embedded default, and what is left when no model answers."""

from collections.abc import Iterator
from datetime import datetime

from agents.llm.answers import Draft, check
from agents.llm.dates import local
from agents.llm.port import Answer, Context
from agents.llm.rules.english import ENGLISH
from agents.llm.rules.french import FRENCH
from agents.llm.rules.german import GERMAN
from agents.llm.rules.injection import is_injection
from agents.llm.rules.languages import language_of
from agents.llm.rules.reading import Finding, read
from agents.llm.rules.relations import relate
from agents.llm.rules.rule import Tongue
from agents.llm.rules.sentences import sentences
from agents.llm.rules.spanish import SPANISH
from agents.llm.scrub import scrub
from schemas.requests import ExtractionRequest, SliceMessage

MODEL = "rules-1"
TONGUES = {tongue.code: tongue for tongue in (ENGLISH, GERMAN, FRENCH, SPANISH)}
# A sender's mark says that a message matters, not how much its parts do.
MARKED_IMPORTANT = 0.15
# Some 3,500 words: nobody types that much in one message, so what is longer is pasted behind the sender's own words.
LONGEST_READ_CHARS = 20_000
ENDINGS = ("\n", ". ", "! ", "? ")


class OfflineProvider:
    """Reads first-person statements of users in English, German, French and Spanish; other languages yield nothing."""

    name = "offline"

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Never raises; the same request and context give the same answer. Async only because the port is."""
        numbered = enumerate(request.messages, start=1)
        drafts = [
            draft(number, language, message, finding, context)
            for number, message in numbered
            for language, finding in findings(message)
        ]
        checked = check(drafts, request, context)
        return Answer(provider=self.name, model=MODEL, proposals=checked.proposals, rejected=checked.rejected)

    async def available(self) -> bool:
        return True


def findings(message: SliceMessage) -> Iterator[tuple[str, Finding]]:
    """What a message says about its speaker; nothing unless a user said it, in a language with rules, without tricks."""
    if message.role != "user":
        return
    content = beginning(message.content)
    tongue = None if is_injection(content) else tongue_of(content, message.language)
    if tongue is None:
        return
    said_at = local(message.timestamp, message.time_zone)
    for sentence in safe_sentences(content):
        yield from ((tongue.code, finding) for finding in read(tongue, sentence, said_at))


def beginning(content: str) -> str:
    """As much of a message as is read, without a last sentence that the bound would cut: half of one may say the opposite."""
    if len(content) <= LONGEST_READ_CHARS:
        return content
    return content[: max(content.rfind(ending, 0, LONGEST_READ_CHARS) for ending in ENDINGS) + 1]


def tongue_of(content: str, hint: str | None) -> Tongue | None:
    language = language_of(content, hint)
    return TONGUES.get(language) if language else None


def safe_sentences(content: str) -> Iterator[str]:
    """Sentences without those that held a secret: what is said around a credential is about the credential."""
    scrubbed = scrub(content)
    marks = [f"[{kind}]" for kind in scrubbed.found]
    for sentence in sentences(scrubbed.text):
        if not any(mark in sentence for mark in marks):
            yield sentence


def draft(number: int, language: str, message: SliceMessage, finding: Finding, context: Context) -> Draft:
    relation = relate(finding, context.related)
    return Draft(
        kind=finding.kind,
        text=finding.text,
        messages=[number],
        confidence=finding.confidence,
        importance=min(1.0, finding.importance + (MARKED_IMPORTANT if message.important else 0.0)),
        tags=list(finding.tags),
        event_time=written(finding.event_time),
        language=language,
        repeats=one_based(relation.repeats),
        contradicts=one_based(relation.contradicts),
    )


def written(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def one_based(index: int | None) -> int | None:
    return None if index is None else index + 1
