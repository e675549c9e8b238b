"""Finds users' own statements, without role play, stories and retracted jokes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from agents.models.offline.rules.framing.framing import after_frame, is_taken_back, opens_frame
from schemas.extraction.requests import SliceMessage

FRAME_TIMEOUT: Final = timedelta(minutes=30)  # without a message of the person who opened it


class SpeakerFrame:
    """The open frame of one person (a role play, a story or a hypothesis), if any. See `framing` for frames."""

    def __init__(self, *, with_hypotheses: bool) -> None:
        self._with_hypotheses = with_hypotheses
        self._in_frame_at: datetime | None = None
        self.latest: int | None = None  # the number of the previous message, which the next one may retract

    def part_outside(self, message: SliceMessage) -> str:
        """The part of the person's next message outside of a frame that an earlier message opened."""
        content = message.content
        if self._in_frame_at is not None and message.timestamp - self._in_frame_at < FRAME_TIMEOUT:
            content = after_frame(content) or ""
        self._in_frame_at = (
            message.timestamp if not content or opens_frame(content, with_hypotheses=self._with_hypotheses) else None
        )
        return content


def own_statements(
    messages: Sequence[SliceMessage], before: Sequence[SliceMessage] = (), *, with_hypotheses: bool = True
) -> dict[int, str]:
    """The users' own words by message number, from 1. A message `before` the slice may have opened a frame. `with_hypotheses` is
    false if a classifier of sentences recognises the messages that continue a hypothesis."""
    frames: dict[str | None, SpeakerFrame] = {}  # by the key of the person
    own: dict[int, str] = {}
    for number, message in enumerate((*before, *messages), 1 - len(before)):
        if message.role != "user":
            continue
        frame = frames.setdefault(message.speaker(None), SpeakerFrame(with_hypotheses=with_hypotheses))
        if is_taken_back(message.content):
            own.pop(frame.latest or 0, None)
        own[number] = frame.part_outside(message)
        frame.latest = number
    return {number: content for number, content in own.items() if number > 0 and content}
