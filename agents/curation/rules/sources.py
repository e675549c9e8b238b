"""The messages that memories come from: which are new, when the last was said, how many are kept."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from schemas.extraction.candidates import Candidate, Source
from schemas.memories.memories import Memory

T = TypeVar("T")

FIRST_SOURCES, LATEST_SOURCES = 10, 40


def new_sources(candidate: Candidate, memory: Memory) -> tuple[Source, ...]:
    """The candidate's messages that the memory does not come from yet."""
    known = {(source.conversation_id, source.message_id) for source in memory.sources}
    fresh = {(source.conversation_id, source.message_id): source for source in candidate.sources}
    return tuple(source for key, source in fresh.items() if key not in known)


def last_said(sources: Sequence[Source]) -> datetime | None:
    return max((source.timestamp for source in sources if source.timestamp is not None), default=None)


def said_later(memory: Memory, candidate: Candidate) -> bool:
    """Whether the memory's latest source is later than the candidate's; False where times are not known."""
    known, new = last_said(memory.sources), last_said(candidate.sources)
    return known is not None and new is not None and known > new


def bounded(sources: tuple[T, ...]) -> tuple[T, ...]:
    """The first and the latest of them: what is said again every day must not grow without end."""
    if len(sources) <= FIRST_SOURCES + LATEST_SOURCES:
        return sources
    return (*sources[:FIRST_SOURCES], *sources[-LATEST_SOURCES:])


def joined(known: Sequence[Source], further: Sequence[Source]) -> tuple[Source, ...]:
    """Both, each message once: with whose it is where one of them says so."""
    found: dict[tuple[str, str], Source] = {}
    for source in (*known, *further):
        key = (source.conversation_id, source.message_id)
        if key not in found or found[key].user_id is None:
            found[key] = source
    return bounded(tuple(found.values()))


def joined_tellers(known: Sequence[str], further: Sequence[str]) -> tuple[str, ...]:
    return bounded(distinct((*known, *further)))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Without repeats, in order of first appearance."""
    return tuple(dict.fromkeys(values))
