"""Finds sentences of users that end a related memory although they are no lasting statement of their own: "Iceland is off"."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from agents.models.dates.dates import local
from agents.models.offline.findings import ReadMessage, Scores
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.engine.rule_engine import Finding
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.findings.classified_statements import (
    COVERED,
    coverage,
    is_made_up,
    may_be_kept,
    stated,
)
from agents.models.offline.rules.framing.framing import is_unreal
from agents.models.offline.rules.standing.wording import unquoted
from agents.models.one_language import UNDETERMINED, primary
from agents.models.port import StatementComparer
from schemas.extraction.relations import COMPARED, Pair
from schemas.memories.memories import Memory

log = logging.getLogger(__name__)

ENDS: Final = 0.9  # least probability that the sentence ends a memory, as a whole or in part
MOST_SENTENCES: Final = 40  # of a slice, each with at most `related_memories` of the policy


class PossibleEnding(NamedTuple):
    """A sentence of a message, as a statement, and the memories of its speaker that it may end."""

    number: int
    language: str
    finding: Finding
    related: tuple[Memory, ...]


async def endings_among(comparer: StatementComparer, possible: Iterable[PossibleEnding]) -> list[PossibleEnding]:
    """Those that end a memory, of the first MOST_SENTENCES. If the comparer fails there are none."""
    sentences = list(islice(possible, MOST_SENTENCES))
    pairs = [
        (place, Pair(unquoted(memory.text), unquoted(each.finding.text)))
        for place, each in enumerate(sentences)
        for memory in each.related
        if is_read(memory)
    ]
    try:
        relations = await comparer.compare([pair for _, pair in pairs])
    except Exception:
        log.exception("comparing %d pairs of statements failed: sentences that end a memory are not kept", len(pairs))
        return []
    places = {
        place
        for (place, _), relation in zip(pairs, relations, strict=True)
        if relation.ends + relation.ends_in_part >= ENDS
    }
    return [each for place, each in enumerate(sentences) if place in places]


def is_read(memory: Memory) -> bool:
    """Whether the comparer reads the memory's language."""
    declared = memory.language if memory.language != UNDETERMINED else None
    return (primary(declared) if declared else language_of(memory.text)) in COMPARED


def possible_endings(
    number: int, of: ReadMessage, scores: Scores, found: Sequence[Finding], related: Iterable[Memory], feelings: bool
) -> Iterator[PossibleEnding]:
    """The sentences of a message that no finding has. Without a classification a sentence may be made up, so it is left out."""
    message, rules, sentences, _ = of
    memories = tuple(related)
    if rules is None or not memories:
        return
    said_at = local(message.timestamp, message.time_zone)
    for sentence, scored in zip(sentences, scores, strict=False):
        if scored is None or is_made_up(scored) or is_question(sentence) or is_unreal(sentence):
            continue
        finding = stated(rules, sentence, said_at, is_certain=True) if may_be_kept(rules, sentence, feelings) else None
        if finding is not None and not any(coverage(finding.text, each.text) >= COVERED for each in found):
            yield PossibleEnding(number, rules.code, finding, memories)
