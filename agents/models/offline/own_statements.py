"""Finds users' own statements, without role play, stories and retracted jokes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from agents.models.offline.rules.framing.framing import after_frame, is_taken_back, opens_frame, opens_play
from schemas.extraction.requests import SliceMessage

FRAME_TIMEOUT: Final = timedelta(minutes=30)  # without a message of the person who opened it


class Words(NamedTuple):
    """The words of a message, which may continue a frame (a role play or a story) that an earlier message, `opener`, opened."""

    content: str
    opener: str = ""

    @property
    def in_role_play(self) -> bool:
        return bool(self.opener) and opens_play(self.opener)


class SpeakerFrame:
    """The open frame of one person (a role play, a story or a hypothesis), if any. See `framing` for frames."""

    def __init__(self, *, with_hypotheses: bool) -> None:
        self._with_hypotheses = with_hypotheses
        self._opener = ""
        self._in_frame_at: datetime | None = None
        self.latest: int | None = None  # the number of the previous message, which the next one may retract

    def words(self, message: SliceMessage) -> Words:
        """The words of the person's next message; from a phrase on that ends the frame, if there is one."""
        content, opener = message.content, ""
        if self._in_frame_at is not None and message.timestamp - self._in_frame_at < FRAME_TIMEOUT:
            rest = after_frame(content)
            content, opener = (content, self._opener) if rest is None else (rest, "")
        opens = opens_frame(content, with_hypotheses=self._with_hypotheses)
        if opens and (opens_play(content) or not opens_play(opener)):  # a story within a role play does not end it
            self._opener = content
        elif not opener:
            self._opener = ""
        self._in_frame_at = message.timestamp if self._opener else None
        return Words(content, opener)


def spoken_words(
    messages: Sequence[SliceMessage], before: Sequence[SliceMessage] = (), *, with_hypotheses: bool = True
) -> dict[int, Words]:
    """The words of users' messages, without retracted ones, by message number, from 1. A message `before` the slice may have
    opened a frame. `with_hypotheses` is false if a classifier of sentences recognises what continues a hypothesis."""
    frames: dict[str | None, SpeakerFrame] = {}  # by the key of the person
    found: dict[int, Words] = {}
    for number, message in enumerate((*before, *messages), 1 - len(before)):
        if message.role != "user":
            continue
        frame = frames.setdefault(message.speaker(None), SpeakerFrame(with_hypotheses=with_hypotheses))
        if is_taken_back(message.content):
            found.pop(frame.latest or 0, None)
        found[number] = frame.words(message)
        frame.latest = number
    return {number: words for number, words in found.items() if number > 0 and words.content}


def own_statements(messages: Sequence[SliceMessage], before: Sequence[SliceMessage] = ()) -> dict[int, str]:
    """The users' own words by message number, without messages that may continue a frame."""
    found = spoken_words(messages, before)
    return {number: words.content for number, words in found.items() if not words.opener}


def outside_role_play(messages: Sequence[SliceMessage], before: Sequence[SliceMessage] = ()) -> set[int]:
    """The numbers of users' messages outside of role plays, without retracted ones."""
    found = spoken_words(messages, before, with_hypotheses=False)
    return {number for number, words in found.items() if not words.in_role_play}
