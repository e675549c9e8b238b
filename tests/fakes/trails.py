"""Traces of messages in PostgreSQL, set by the test."""

from sinks.trails.trails import MessageTraces


class FakeTrails:
    """Traces by conversation and message."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], MessageTraces] = {}

    async def of(self, conversation_id: str, message_id: str) -> MessageTraces | None:
        return self.known.get((conversation_id, message_id))
