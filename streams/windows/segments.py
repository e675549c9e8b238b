"""Segments: the tasks of a conversation, separated on arrival by the text and by pauses.

Only a user's message begins a task, so an assistant's tool calls and their results stay in one segment.
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

OPENING_CHARS = 80  # characters at the start of a message that are checked for the opening of a task


class Segmentation(Struct, frozen=True, array_like=True):
    """The current task of a conversation: its number, the time of its last message (Unix seconds), and whether it is complete."""

    segment: int = 0
    last_at: float | None = None
    complete: bool = False


def segmentation_after(
    state: Segmentation, role: Role, traits: int, timestamp: float, text: str, gap_s: float
) -> Segmentation:
    """The state after a message; its `segment` is the message's own.

    A task begins with a user's message that says so, that comes `gap_s` after the message before, or that asks for
    something once the task before was marked complete. Thanks, corrections and errors continue the task they are about.
    """
    if role == "system":
        return state
    if state.last_at is None:
        return Segmentation(state.segment, timestamp, bool(traits & TASK_COMPLETE))
    # Timestamps are the senders': one that goes back is no pause, and one far ahead must not hide all later pauses.
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
    """Whether the task is complete after the message: a complete task stays so until a user continues it."""
    if traits & TASK_COMPLETE:
        return True
    taken_up = role == "user" and not traits & CASUAL
    return state.complete and not taken_up


def finished(segments: dict[int, int], current: int) -> frozenset[int]:
    """The numbers of finished tasks. `segments` has, by number, the bitwise or of all messages' traits.

    A task is finished once it was marked complete, or the user announced another task. Neither a pause nor a next step
    finishes a task: people return to it.
    """
    return frozenset(
        number
        for number, traits in segments.items()
        if number < current and (traits & TASK_COMPLETE or segments.get(number + 1, 0) & TASK_SWITCHES)
    )
