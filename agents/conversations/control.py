"""Manual requests to windows: flush, prune, clear, restore, mark, settings, and users' settings."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal

from schemas import codec
from schemas.conversations.windows import WindowAddress, WindowState
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.windows.window_controls import WindowControl

ByHand = Literal["flush", "prune", "clear", "restore", "mark", "settings", "user_settings"]


def control_record(state: WindowState, kind: ByHand, at: datetime, **fields: Any) -> Outgoing:
    """The control event, on the partition of the conversation's messages: other clients may hash its key differently.

    `fields` are those of the event that its kind takes.
    """
    return control_at(WindowAddress(state.scope.conversation_id, state.partition), kind, at, **fields)


def control_at(place: WindowAddress, kind: ByHand, at: datetime, **fields: Any) -> Outgoing:
    event = WindowControl(conversation_id=place.conversation_id, kind=kind, at=at, **fields)
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=place.conversation_id.encode(),
        value=codec.encode(event),
        partition=place.partition,
    )


class WindowControlSender:
    """Publishes control events; `wait_s` is how long it waits for Kafka's confirmation, in seconds."""

    def __init__(self, publisher: Publisher, clock: Callable[[], datetime], *, wait_s: float = 5.0) -> None:
        self._publisher = publisher
        self._clock = clock
        self._wait_s = wait_s

    async def send(self, state: WindowState, kind: ByHand, **fields: Any) -> None:
        """Publishes the event: the window will apply it, and about a second later its projection shows the result.

        Raises Retryable: then it may be applied all the same, and repeating it does no harm.
        """
        await self._publish(kind, [control_record(state, kind, self._clock(), **fields)])

    async def send_to(self, places: Sequence[WindowAddress], kind: ByHand) -> None:
        """Publishes the event for several windows. Raises Retryable."""
        at = self._clock()
        await self._publish(kind, [control_at(place, kind, at) for place in places])

    async def _publish(self, kind: ByHand, records: Sequence[Outgoing]) -> None:
        try:
            async with asyncio.timeout(self._wait_s):
                await self._publisher.publish(records)
        except TimeoutError as exc:
            raise Retryable(f"Kafka did not confirm {kind} within {self._wait_s:g} s") from exc
