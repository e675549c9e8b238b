"""Reads users' messages with a classifier of sentences, which also judges what continues a story or a role play."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from msgspec import structs

from agents.models.offline.findings import ParsedMessage, Scores, parse, scores_of
from agents.models.offline.own_statements import Words, spoken_words
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.findings.classified_statements import (
    ONE_SPEAKER,
    is_made_up,
    lasting_probability,
)
from agents.models.offline.rules.framing.framing import adds_to_previous
from agents.models.port import SentenceClassifier
from schemas.extraction.requests import ExtractionRequest
from schemas.extraction.sentences import SentenceScores

OPENER_CHARS: Final = 100  # of the message that opened a frame
MADE_UP: Final = SentenceScores(other=0.0, statement=0.0, limit=0.0, wish=0.0, unreal=1.0)


async def classified_messages(
    classifier: SentenceClassifier, request: ExtractionRequest
) -> tuple[dict[int, ParsedMessage], dict[int, Scores]]:
    """The users' messages and the classifications of their sentences, by message number. In a frame a sentence is classified
    twice, after the previous message and after the one that opened the frame. Messages in a role play are left out: their
    sentences look like facts."""
    words = spoken_words(request.messages, request.overlap, with_hypotheses=False)
    messages = parsed_messages(request, {number: each.content for number, each in words.items()})
    played = await played_messages(classifier, words, messages)
    messages = {number: each for number, each in messages.items() if number not in played}
    first = request.overlap[-1].content if request.overlap else ""
    previous = (first, *(each.content for each in request.messages))
    in_place = [(each, previous[number - 1]) for number, each in messages.items()]
    framed = {number: words[number].opener[:OPENER_CHARS] for number in messages if words[number].opener}
    found = await scores_of(classifier, [*in_place, *((messages[number], opener) for number, opener in framed.items())])
    scores: dict[int, Scores] = dict(zip(messages, found, strict=False))  # the others are those after openers
    for number, after_opener in zip(framed, found[len(messages) :], strict=True):
        scores[number] = list(in_frame(messages[number].sentences, scores[number], after_opener))
    return messages, scores


async def played_messages(
    classifier: SentenceClassifier, words: Mapping[int, Words], messages: Mapping[int, ParsedMessage]
) -> set[int]:
    """The numbers of messages in a role play. Each opener is classified once: it may be as long as a page."""
    playing = {number: each.opener for number, each in words.items() if each.in_role_play}
    openers = {
        opener: parse(structs.replace(messages[number].message, content=opener)) for number, opener in playing.items()
    }
    found = await scores_of(classifier, [(each, "") for each in openers.values()])
    factual = {opener for opener, scores in zip(openers, found, strict=True) if only_states_facts(scores)}
    return {number for number, opener in playing.items() if opener not in factual}


def only_states_facts(opener: Scores) -> bool:
    """Whether the message that seems to open a role play is a statement about its speaker: "I have a mock exam on Friday"."""
    read = [each for each in opener if each is not None]
    is_fact = any(lasting_probability(each) >= ONE_SPEAKER.statement for each in read)
    return is_fact and not any(map(is_made_up, read))


def in_frame(sentences: Sequence[str], after_previous: Scores, after_opener: Scores) -> Iterator[SentenceScores]:
    """For each sentence the scores that say more that it is made up; so is a sentence without scores, or one that adds to the
    previous text."""
    for sentence, *scores in zip_longest(sentences, after_previous, after_opener):
        known = [each for each in scores if each is not None]
        yield MADE_UP if adds_to_previous(sentence) else max(known, key=lambda each: each.unreal, default=MADE_UP)


def parsed_messages(request: ExtractionRequest, words: Mapping[int, str]) -> dict[int, ParsedMessage]:
    """The words of users' messages by number, prepared for the rules."""
    spoken = language_of(" ".join(each.content for each in request.messages))
    return {
        number: parse(structs.replace(each, content=words[number], language=each.language or spoken))
        for number, each in enumerate(request.messages, start=1)
        if number in words
    }
