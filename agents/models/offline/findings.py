"""Finds the statements of a user's message, by rules and by the classification of its sentences."""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, zip_longest
from typing import Final, NamedTuple

from msgspec import structs

from agents.models.dates.dates import local
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.rule_engine import Finding
from agents.models.offline.rules.findings.classified_statements import (
    ONE_SPEAKER,
    Thresholds,
    as_context,
    continued,
    statement_in_context,
)
from agents.models.offline.rules.findings.sentence_findings import apply_rules
from agents.models.offline.rules.framing.framing import own_part
from agents.models.offline.statements import beginning, language_rules, with_gaps
from agents.models.offline.wishes import wishes_in
from agents.models.port import SentenceClassifier
from schemas.extraction.requests import SliceMessage
from schemas.extraction.sentences import Sentence, SentenceScores, in_context

MOST_CLASSIFIED: Final = 200  # sentences of a message; the rules alone read the others

Scores = Sequence[SentenceScores | None]


class ReadMessage(NamedTuple):
    """The sentences of a user's message, and the rules of its language; none without such rules. `follows` says for each
    sentence whether it directly follows the one before."""

    message: SliceMessage
    rules: LanguageRules | None = None
    sentences: tuple[str, ...] = ()
    follows: tuple[bool, ...] = ()


def read(message: SliceMessage) -> ReadMessage:
    """Leaves out what the message asks to forget, and messages that address a model."""
    content = beginning(wishes_in(message).rest) if message.role == "user" else ""
    if not content or is_injection(content):
        return ReadMessage(message)
    rules = language_rules(content, message.language)
    if rules is None:
        return ReadMessage(message)
    marked = [None, *with_gaps(content)]
    is_whole = content == message.content
    placed = [(now, is_whole and before is not None) for before, now in pairwise(marked) if now is not None]
    return ReadMessage(message, rules, tuple(text for text, _ in placed), tuple(follows for _, follows in placed))


def without_frames(of: ReadMessage) -> ReadMessage:
    """The message without fiction, hypotheses and texts to be edited, as far as rules recognise them. A classifier of sentences
    recognises them better."""
    own = own_part(of.message.content) if of.rules is not None else of.message.content
    return of if own == of.message.content else read(structs.replace(of.message, content=own))


def findings(message: SliceMessage, feelings: bool = False) -> Iterator[tuple[str, Finding]]:
    """The statements of a user's message about its speaker, with their language, by rules alone."""
    return findings_in(read(message), feelings)


def findings_in(
    read_message: ReadMessage, feelings: bool = False, scores: Scores = (), thresholds: Thresholds = ONE_SPEAKER
) -> Iterator[tuple[str, Finding]]:
    """The statements of a user's message about its speaker, with their language. `scores` are the classifications of its
    sentences in order; the rules alone read sentences without one."""
    own = without_frames(read_message)
    message, rules, sentences, follows = read_message if scores else own
    if rules is None:
        return
    said_at = local(message.timestamp, message.time_zone)
    pending: list[Finding] = []
    before = ""
    for sentence, is_next, scored in zip_longest(sentences, follows, scores[: len(sentences)]):
        is_read = scored is not None or sentence in own.sentences
        found = list(apply_rules(rules, sentence, said_at, feelings, scored, thresholds)) if is_read else []
        if scored is not None and not found and is_next:
            longer = continued(rules, pending[-1], sentence, scored, said_at, thresholds) if pending else None
            if longer is not None:
                pending[-1] = longer
                continue
            statement = statement_in_context(rules, sentence, said_at, feelings, scored, thresholds, before)
            found = [statement] if statement is not None else []
        yield from ((rules.code, each) for each in pending)
        pending = found
        before = as_context(rules, sentence, feelings, scored) if scored is not None else ""
    yield from ((rules.code, each) for each in pending)


async def scores_of(
    classifier: SentenceClassifier, messages: Sequence[tuple[ReadMessage, str]]
) -> list[list[SentenceScores | None]]:
    """The classifications of the sentences of messages, in order. Each message comes with the content of the previous one,
    which may be empty."""
    classified: list[list[Sentence]] = []
    for read_message, previous in messages:
        in_place = in_context(previous, read_message.sentences) if read_message.rules is not None else iter(())
        classified.append(list(islice(in_place, MOST_CLASSIFIED)))
    scored = iter(await classifier.classify([each for of_message in classified for each in of_message]))
    return [list(islice(scored, len(of_message))) for of_message in classified]
