"""A decided change of a memory, before it is written to the tables."""

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.vectors.port import Vector


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """`after` has the new version and the sequence of the namespace; `vector` is set if the text is new."""

    change: Change
    before: Memory | None
    after: Memory
    normalised: str
    cause: Cause
    at: Moment
    vector: Vector | None = None
