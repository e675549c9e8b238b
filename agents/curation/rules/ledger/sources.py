"""The source messages of memories: which are new, when the latest was sent, how many are kept."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from schemas.extraction.candidates import Candidate, Source
from schemas.memories.memories import Memory

T = TypeVar("T")

FIRST_SOURCES, LATEST_SOURCES = 10, 40


def new_sources(candidate: Candidate, other: Memory | Candidate) -> tuple[Source, ...]:
    """The candidate's messages that are not among the other's sources."""
    known = {(source.conversation_id, source.message_id) for source in other.sources}
    fresh = {(source.conversation_id, source.message_id): source for source in candidate.sources}
    return tuple(source for key, source in fresh.items() if key not in known)


def last_said(sources: Sequence[Source]) -> datetime | None:
    return max((source.timestamp for source in sources if source.timestamp is not None), default=None)


def said_later(memory: Memory, candidate: Candidate) -> bool:
    """Whether the memory's latest source is later than the candidate's; False if times are unknown."""
    known, new = last_said(memory.sources), last_said(candidate.sources)
    return known is not None and new is not None and known > new


def bounded(sources: tuple[T, ...]) -> tuple[T, ...]:
    """The first and the latest sources: a statement that is repeated daily must not grow without limit."""
    if len(sources) <= FIRST_SOURCES + LATEST_SOURCES:
        return sources
    return (*sources[:FIRST_SOURCES], *sources[-LATEST_SOURCES:])


def joined(known: Sequence[Source], further: Sequence[Source]) -> tuple[Source, ...]:
    """The sources of both, each message once, with its user if one of them names it."""
    found: dict[tuple[str, str], Source] = {}
    for source in (*known, *further):
        key = (source.conversation_id, source.message_id)
        if key not in found or found[key].user_id is None:
            found[key] = source
    return bounded(tuple(found.values()))


def joined_tellers(known: Sequence[str], further: Sequence[str]) -> tuple[str, ...]:
    return bounded(distinct((*known, *further)))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """The items without duplicates, in order of first appearance."""
    return tuple(dict.fromkeys(values))
