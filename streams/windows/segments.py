"""Segments: the tasks a conversation consists of, told apart on arrival by what is said and by pauses.

Only what users say begins a task, so the calls and results an assistant works through never fall apart.
"""

from msgspec import Struct

from schemas.conversations.messages import Role
from streams.windows.detectors.beginning import OPENING
from streams.windows.detectors.cleaning import cleaned, flattened
from streams.windows.detectors.traits import (
    CASUAL,
    CORRECTION,
    ERROR,
    TASK_BEGINS,
    TASK_COMPLETE,
    TASK_SWITCHES,
    references,
)

OPENING_CHARS = 80  # of a message, in which it opens a task or does not


class Segmentation(Struct, frozen=True, array_like=True):
    """Where a conversation stands: the current task's number, when its last message came (Unix s), whether it is complete."""

    segment: int = 0
    last_at: float | None = None
    complete: bool = False


def following(state: Segmentation, role: Role, traits: int, timestamp: float, text: str, gap_s: float) -> Segmentation:
    """The state after a message; its `segment` is the message's own.

    A task begins with a user's message that says so, that comes `gap_s` after the message before, or that asks for
    something once the task before was marked complete. Thanks, corrections and errors continue the task they are about.
    """
    if role == "system":
        return state
    if state.last_at is None:
        return Segmentation(state.segment, timestamp, bool(traits & TASK_COMPLETE))
    # A clock that goes back a little makes no pause, and one that was far ahead for a message does not end all pauses.
    last_at = timestamp if timestamp >= state.last_at else min(state.last_at, timestamp + gap_s)
    if role == "user" and _begins(state, traits, timestamp - state.last_at >= gap_s, text):
        return Segmentation(state.segment + 1, last_at, bool(traits & TASK_COMPLETE))
    return Segmentation(state.segment, last_at, _complete(state, role, traits))


def _begins(state: Segmentation, traits: int, paused: bool, text: str) -> bool:
    if paused or traits & TASK_BEGINS:
        return True
    if not state.complete or traits & (CORRECTION | ERROR | CASUAL | TASK_COMPLETE) or references(traits):
        return False
    return OPENING.match(flattened(cleaned(text[:OPENING_CHARS])).decode("latin-1")) is not None


def _complete(state: Segmentation, role: Role, traits: int) -> bool:
    """A complete task stays complete until a user takes it up again."""
    if traits & TASK_COMPLETE:
        return True
    taken_up = role == "user" and not traits & CASUAL
    return state.complete and not taken_up


def finished(segments: dict[int, int], current: int) -> frozenset[int]:
    """The segments that are finished tasks; `segments` holds, by number, the traits of all their messages, or-ed.

    A task is finished when it was marked complete, or when its user said that they turn to another. A pause finishes
    nothing, nor does a next step: people come back to what they left.
    """
    return frozenset(
        number
        for number, traits in segments.items()
        if number < current and (traits & TASK_COMPLETE or segments.get(number + 1, 0) & TASK_SWITCHES)
    )
