"""Finds the statements of a user's message: by rules, and by what its sentences are classified as."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agents.models.dates.dates import local
from agents.models.offline.rules.classified_statements import continued
from agents.models.offline.rules.framing import own_part
from agents.models.offline.rules.injection import is_injection
from agents.models.offline.rules.rule import LanguageRules
from agents.models.offline.rules.rule_engine import Finding
from agents.models.offline.rules.standing_findings import apply_rules
from agents.models.offline.statements import beginning, language_rules, safe_sentences
from agents.models.offline.wishes import wishes_in
from agents.models.port import SentenceClassifier
from schemas.extraction.requests import SliceMessage
from schemas.extraction.sentences import Sentence, SentenceScores, in_context

NO_SCORES: Final[Mapping[str, SentenceScores]] = {}
CLASSIFIED: Final = frozenset({"en"})  # languages that the classifier of sentences reads


def findings(
    message: SliceMessage, feelings: bool = False, scores: Mapping[str, SentenceScores] = NO_SCORES
) -> Iterator[tuple[str, Finding]]:
    """The statements of a user's message about its speaker, in a language with rules. `scores` has what its sentences were
    classified as."""
    tongue, sentences = readable(message)
    if tongue is not None:
        said_at = local(message.timestamp, message.time_zone)
        found: list[Finding] = []
        for sentence in sentences:
            scored = scores.get(sentence)
            longer = continued(tongue, found[-1], sentence, scored, said_at) if found and scored else None
            if longer is None:
                yield from ((tongue.code, each) for each in found)
                found = list(apply_rules(tongue, sentence, said_at, feelings, scored))
            else:
                found[-1] = longer
        yield from ((tongue.code, each) for each in found)


def readable(message: SliceMessage) -> tuple[LanguageRules | None, list[str]]:
    """The sentences of a user's message that are read, and the rules of its language. Leaves out what the message asks to
    forget, and messages that address a model."""
    content = beginning(wishes_in(message).rest) if message.role == "user" else ""
    if not content or is_injection(content):
        return None, []
    content = own_part(content)
    tongue = language_rules(content, message.language)
    return (None, []) if tongue is None else (tongue, list(safe_sentences(content)))


async def scores_of(
    classifier: SentenceClassifier, messages: Sequence[tuple[SliceMessage, str]]
) -> dict[str, dict[str, SentenceScores]]:
    """What the sentences of messages are classified as, by the id of the message. A message comes with the content of the one
    before it; empty if there is none."""
    asked: list[tuple[str, Sentence]] = []
    for message, before in messages:
        tongue, sentences = readable(message)
        if tongue is not None and tongue.code in CLASSIFIED:
            asked += ((message.message_id, each) for each in in_context(before, sentences))
    found: dict[str, dict[str, SentenceScores]] = {}
    scored = await classifier.classify([each for _, each in asked])
    for (message_id, sentence), scores in zip(asked, scored, strict=True):
        if scores is not None:
            found.setdefault(message_id, {})[sentence.text] = scores
    return found
