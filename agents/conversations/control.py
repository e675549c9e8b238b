"""What is asked of a window by hand, as the record that asks for it."""

from datetime import datetime
from typing import Literal

from schemas import codec, topics
from schemas.records import Outgoing
from schemas.requests import WindowControl
from schemas.windows import WindowState

ByHand = Literal["flush", "prune", "clear"]


def control(state: WindowState, kind: ByHand, at: datetime) -> Outgoing:
    """To the partition of the conversation's messages: other clients may have hashed its key in another way."""
    conversation_id = state.scope.conversation_id
    event = WindowControl(conversation_id=conversation_id, kind=kind, at=at)
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=conversation_id.encode(),
        value=codec.encode(event),
        partition=state.partition,
    )
