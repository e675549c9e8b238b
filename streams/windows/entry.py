"""A message in its window, with the detectors' findings."""

from msgspec import Struct

from schemas.extraction.requests import SliceMessage
from streams.windows.traits import MessageTraits

OVERHEAD_BYTES = 896  # of a message in memory besides its texts (mean over many windows)
BYTES_A_TOKEN = 4  # of arguments of tool calls, which are many small objects


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """A message with the detectors' results. `segment` is the number of its task."""

    message: SliceMessage
    traits: int = 0
    fingerprint: int = 0
    segment: int = 0

    @property
    def position(self) -> int:
        return self.message.position

    @property
    def memory_bytes(self) -> int:
        """The approximate size in memory."""
        called = BYTES_A_TOKEN * self.message.tokens if self.message.tool_calls else 0
        return OVERHEAD_BYTES + self.message.content.__sizeof__() + called

    def message_traits(self, sent_at: float | None = None) -> MessageTraits:
        """The traits for pruning rules; `sent_at` is the message's timestamp in Unix seconds, if the caller has it."""
        message = self.message
        return MessageTraits(
            message.position,
            message.message_id,
            message.role,
            message.timestamp.timestamp() if sent_at is None else sent_at,
            message.tokens,
            self.traits,
            self.fingerprint,
            self.segment,
            message.important,
            tuple([call.id for call in message.tool_calls]) if message.tool_calls else (),
            message.tool_call_id,
        )
