"""Merges equal proposals, and resolves which proposals correct which."""

from collections.abc import Mapping

import msgspec

from agents.models.answers.texts import PUNCTUATION
from agents.models.port import Proposal
from schemas.extraction.requests import ExtractionRequest

MAX_SUPERSEDED = 64


def merge_equal(proposals: list[Proposal], request: ExtractionRequest) -> tuple[Proposal, ...]:
    """Merges proposals about the same people whose texts differ only in punctuation and case: the most confident one stays,
    with the message ids of all."""
    by_text: dict[tuple[str, frozenset[str | None]], Proposal] = {}
    stands_for: dict[int, int] = {}
    for item in proposals:
        key = PUNCTUATION.sub(" ", item.text).strip().casefold(), request.speakers_of(item.message_ids)
        by_text[key] = merged(by_text[key], item) if key in by_text else item
        stands_for[item.number] = by_text[key].number
    found = {item.number: item for item in by_text.values()}
    return tuple(with_corrections(item, found, stands_for, request) for item in found.values())


def with_corrections(
    item: Proposal, found: Mapping[int, Proposal], stands_for: Mapping[int, int], request: ExtractionRequest
) -> Proposal:
    """The proposal with `corrects` limited to other proposals that are based on the same people's messages. `stands_for` maps
    the number of each proposal to the number of the one that it was merged into."""
    if not item.corrects:
        return item
    speaker_ids = request.speakers_of(item.message_ids)
    named = dict.fromkeys(stands_for[number] for number in item.corrects if number in stands_for)
    others = (number for number in named if number != item.number)
    own = tuple(number for number in others if request.speakers_of(found[number].message_ids) == speaker_ids)
    return msgspec.structs.replace(item, corrects=own)


def merged(first: Proposal, repetition: Proposal) -> Proposal:
    most_confident = max(first, repetition, key=lambda item: item.confidence)
    return msgspec.structs.replace(
        most_confident,
        message_ids=tuple(dict.fromkeys(first.message_ids + repetition.message_ids)),
        importance=max((each for each in (first.importance, repetition.importance) if each is not None), default=None),
        tags=tuple(dict.fromkeys(first.tags + repetition.tags)),
        repeats=first.repeats or repetition.repeats,
        refines=first.refines or repetition.refines,
        contradicts=first.contradicts or repetition.contradicts,
        supersedes=tuple(dict.fromkeys(first.supersedes + repetition.supersedes))[:MAX_SUPERSEDED],
        number=first.number,
        corrects=tuple(dict.fromkeys(first.corrects + repetition.corrects))[:MAX_SUPERSEDED],
        valid_from=first.valid_from or repetition.valid_from,
        valid_until=first.valid_until or repetition.valid_until,
    )
