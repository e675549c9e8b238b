"""One change of a memory on its way into the tables: what the rules decided, before anything is written."""

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.vectors.port import Vector


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """`after` carries its version and the namespace's sequence; `vector` is given when the text is new."""

    change: Change
    before: Memory | None
    after: Memory
    normalised: str
    cause: Cause
    at: Moment
    vector: Vector | None = None
