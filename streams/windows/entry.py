"""A message as its window holds it: what was said, and what the rules found in it on arrival."""

from msgspec import Struct

from schemas.extraction.requests import SliceMessage
from streams.windows.traits import MessageTraits

OVERHEAD_BYTES = 896  # of a message in memory besides its texts, measured over many windows
BYTES_A_TOKEN = 4  # of the arguments of tool calls, which are rather many small objects


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """`traits` and `fingerprint` are what the detectors found; `segment` is the number of the task it belongs to."""

    said: SliceMessage
    traits: int = 0
    fingerprint: int = 0
    segment: int = 0

    @property
    def position(self) -> int:
        return self.said.position

    @property
    def memory_bytes(self) -> int:
        """About what it takes in memory."""
        called = BYTES_A_TOKEN * self.said.tokens if self.said.tool_calls else 0
        return OVERHEAD_BYTES + self.said.content.__sizeof__() + called

    def message_traits(self, said_at: float | None = None) -> MessageTraits:
        """What the rules of pruning need to know of it; `said_at` is its timestamp in Unix seconds, where that is at hand."""
        said = self.said
        return MessageTraits(
            said.position,
            said.message_id,
            said.role,
            said.timestamp.timestamp() if said_at is None else said_at,
            said.tokens,
            self.traits,
            self.fingerprint,
            self.segment,
            said.important,
            tuple([call.id for call in said.tool_calls]) if said.tool_calls else (),
            said.tool_call_id,
        )
