"""Manual requests to windows: flush, prune, clear, restore, mark, settings."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from schemas import codec
from schemas.conversations.window_controls import WindowControl
from schemas.conversations.windows import WindowState
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher

ByHand = Literal["flush", "prune", "clear", "restore", "mark", "settings"]


def control_record(state: WindowState, kind: ByHand, at: datetime, **fields: Any) -> Outgoing:
    """To the partition of the conversation's messages: other clients may have hashed its key in another way.

    `fields` are those of the control event that its kind takes.
    """
    conversation_id = state.scope.conversation_id
    event = WindowControl(conversation_id=conversation_id, kind=kind, at=at, **fields)
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=conversation_id.encode(),
        value=codec.encode(event),
        partition=state.partition,
    )


class WindowControlSender:
    """Sends what is asked for; `wait_s` is how long Kafka may take to confirm it."""

    def __init__(self, publisher: Publisher, clock: Callable[[], datetime], *, wait_s: float = 5.0) -> None:
        self._publisher = publisher
        self._clock = clock
        self._wait_s = wait_s

    async def send(self, state: WindowState, kind: ByHand, **fields: Any) -> None:
        """Once it returns the request will be carried out, and after about a second the window's row tells of it.

        Raises Retryable: then it may be carried out all the same, and once more does no harm.
        """
        try:
            async with asyncio.timeout(self._wait_s):
                await self._publisher.publish([control_record(state, kind, self._clock(), **fields)])
        except TimeoutError as exc:
            raise Retryable(f"Kafka did not confirm {kind} within {self._wait_s:g} s") from exc
