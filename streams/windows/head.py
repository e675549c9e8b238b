"""The row that describes a conversation's window: everything but the messages, which rest in chunks beside it."""

from msgspec import Struct, field

from schemas.messages import Scope

REMEMBERED_IDS = 64  # message ids kept after their messages left, so that a chat service's late retry is recognised


class Chunk(Struct, array_like=True, gc=False):
    """A sealed row of messages: those one conversation got in one batch. `first` and `last` are positions, `size` is in bytes."""

    first: int
    last: int
    count: int
    size: int = 0


class Asked(Struct, array_like=True, gc=False):
    """A slice that is on its way through the LLM stage; `due` is when it is asked for again (Unix seconds)."""

    request_id: str
    first: int
    last: int
    attempt: int
    due: float


class HeldEnd(Struct, array_like=True):
    """An end event that waits: until the messages partition is read to `read_to`, then for stragglers until `deadline`."""

    read_to: int
    deadline: float
    last_message_id: str | None
    message_count: int | None


class Head(Struct, omit_defaults=True):
    """`applied` holds, by logical topic, the offset after the last event applied; `cut_to` the position cut up to.

    `extracted` are [first, last] ranges whose extraction is stored while their chunks still hold other messages. When the
    oldest message came in that waits to be asked for is `waiting_since`, when the newest came in `said_at` (Unix seconds).
    """

    scope: Scope
    partition: int
    applied: dict[str, int] = field(default_factory=dict)
    chunks: list[Chunk] = field(default_factory=list)
    cut_to: int = 0
    asked: list[Asked] = field(default_factory=list)
    extracted: list[tuple[int, int]] = field(default_factory=list)
    held: HeldEnd | None = None
    ended: bool = False
    received: int = 0
    remembered: list[str] = field(default_factory=list)
    waiting_since: float = 0.0
    said_at: float = 0.0
    touched_at: float = 0.0
