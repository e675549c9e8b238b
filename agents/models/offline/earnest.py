"""What users say in their own names: not what goes on with a part or a story, and not what they take back."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from agents.models.offline.rules.framing import is_role, is_taken_back, left
from schemas.extraction.requests import SliceMessage

FRAME_LASTS: Final = timedelta(minutes=30)  # without a word of whoever opened it


class Player:
    """What one person is in the middle of."""

    def __init__(self) -> None:
        self._in_frame_at: datetime | None = None
        self.latest: int | None = None  # the number of the message that the next one may take back

    def own(self, message: SliceMessage) -> str:
        """As much of the next message as is outside a frame that an earlier one opened."""
        content = message.content
        if self._in_frame_at is not None and message.timestamp - self._in_frame_at < FRAME_LASTS:
            content = left(content) or ""
        self._in_frame_at = message.timestamp if not content or is_role(content) else None
        return content


def said_in_earnest(messages: Sequence[SliceMessage], before: Sequence[SliceMessage] = ()) -> dict[int, str]:
    """By the number of each user's message what of it its speaker means. A frame may have been opened `before`."""
    players: dict[str | None, Player] = {}
    own: dict[int, str] = {}
    for number, message in enumerate((*before, *messages), 1 - len(before)):
        if message.role != "user":
            continue
        player = players.setdefault(message.user_id, Player())
        if is_taken_back(message.content):
            own.pop(player.latest or 0, None)
        own[number] = player.own(message)
        player.latest = number
    return {number: content for number, content in own.items() if number > 0 and content}
