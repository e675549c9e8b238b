"""Finds the statements of a user's message, by rules and by the classification of its sentences."""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile, zip_longest
from typing import Final, NamedTuple

from msgspec import structs

from agents.models.dates.dates import local
from agents.models.offline.guessed_wishes import wishes_or_guess_in
from agents.models.offline.introductions import is_greeting, name_and_rest, without_introduction
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.rule_engine import Finding
from agents.models.offline.rules.findings.classified_statements import (
    ONE_SPEAKER,
    Thresholds,
    as_context,
    joined_with_next,
    statement_in_context,
)
from agents.models.offline.rules.findings.requests_to_remember import asks_only_to_remember
from agents.models.offline.rules.findings.sentence_findings import apply_rules
from agents.models.offline.rules.framing.framing import own_part
from agents.models.offline.statements import language_rules, readable_beginning, sentences_with_gaps
from agents.models.port import SentenceClassifier
from schemas.extraction.requests import SliceMessage
from schemas.extraction.sentences import Sentence, SentenceScores, in_context

MOST_CLASSIFIED: Final = 200  # sentences of a message; the rules alone read the others

Scores = Sequence[SentenceScores | None]


class ParsedMessage(NamedTuple):
    """A user's message with its sentences and the rules of its language; without both if its language has no rules. `follows`
    tells for each sentence whether it directly follows the previous one. `introduces`: the first one is made of a greeting."""

    message: SliceMessage
    rules: LanguageRules | None = None
    sentences: tuple[str, ...] = ()
    follows: tuple[bool, ...] = ()
    introduces: bool = False


def parse(message: SliceMessage) -> ParsedMessage:
    """Splits a user's message into sentences, without the words that it asks to forget. A message that addresses a model has no
    sentences."""
    content = readable_beginning(wishes_or_guess_in(message).rest) if message.role == "user" else ""
    if not content or is_injection(content):
        return ParsedMessage(message)
    is_whole = content == message.content
    named = name_and_rest(content)
    introduces = named is not None and message.name is None  # an event's own name outweighs that of the greeting
    if named is not None:
        content = f"{named[0]} {named[1]}".rstrip() if introduces else named[1]
    rules = language_rules(content, message.language)
    if rules is None:
        return ParsedMessage(message)
    marked = [None, *sentences_with_gaps(content)]
    opening = sum(1 for _ in takewhile(lambda each: each is not None and is_greeting(each), marked[1:])) + 1
    placed = [
        (text, is_whole and (before is not None or part > 0))
        for number, (before, now) in enumerate(pairwise(marked), 1)
        if now is not None
        for part, text in enumerate(without_introduction(now) if number <= opening else [now])
    ]
    texts, follows = tuple(text for text, _ in placed), tuple(each for _, each in placed)
    return ParsedMessage(message, rules, texts, follows, introduces=introduces)


def without_frames(parsed: ParsedMessage) -> ParsedMessage:
    """The message without fiction, hypotheses and texts to be edited, as far as rules recognise them. A classifier of sentences
    recognises them better."""
    own = own_part(parsed.message.content) if parsed.rules is not None else parsed.message.content
    return parsed if own == parsed.message.content else parse(structs.replace(parsed.message, content=own))


def findings(message: SliceMessage) -> Iterator[tuple[str, Finding]]:
    """The statements of a user's message about its speaker, with their language, by rules alone."""
    return findings_in(parse(message))


def findings_in(
    parsed: ParsedMessage, feelings: bool = False, scores: Scores = (), thresholds: Thresholds = ONE_SPEAKER
) -> Iterator[tuple[str, Finding]]:
    """The statements of a user's message about its speaker, with their language. `scores` are the classifications of its
    sentences, in order; the rules alone read sentences without scores."""
    own = without_frames(parsed)
    message, rules, sentences, follows, _ = parsed if scores else own
    if rules is None:
        return
    said_at = local(message.timestamp, message.time_zone)
    pending: list[Finding] = []
    before = ""
    for sentence, is_next, scored in zip_longest(sentences, follows, scores[: len(sentences)]):
        is_read = scored is not None or sentence in own.sentences
        stated = apply_rules(rules, sentence, said_at, feelings, scored, thresholds) if is_read else ()
        found = [each for each in stated if not asks_only_to_remember(each.text)]
        if scored is not None and not found and is_next:
            longer = joined_with_next(rules, pending[-1], sentence, scored, said_at, thresholds) if pending else None
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
    classifier: SentenceClassifier, messages: Sequence[tuple[ParsedMessage, str]]
) -> list[list[SentenceScores | None]]:
    """The classifications of the sentences of messages, in order; None for a sentence made of a greeting, which rules alone read.
    Each message comes with the content of the previous one, which may be empty."""
    classified: list[list[Sentence]] = []
    for parsed, previous in messages:
        in_place = in_context(previous, parsed.sentences) if parsed.rules is not None else iter(())
        classified.append(list(islice(in_place, MOST_CLASSIFIED)))
    scored = iter(await classifier.classify([each for of_message in classified for each in of_message]))
    scores = [list(islice(scored, len(of_message))) for of_message in classified]
    return [[None, *of[1:]] if parsed.introduces else of for of, (parsed, _) in zip(scores, messages, strict=True)]
