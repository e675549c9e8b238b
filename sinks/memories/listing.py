"""What a list of memories is asked for: one namespace, filters, an order, and the place where the last page ended."""

from typing import Literal, TypeAlias

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.memories.memories import Memory, Status
from schemas.policies.policies import Fraction

Order: TypeAlias = Literal["importance", "created", "updated"]

COLUMNS: dict[Order, str] = {"importance": "importance", "created": "created_at", "updated": "updated_at"}


class Place(Struct, frozen=True):
    """Of a memory in an order: its importance or its time there, and its id, which decides among equals."""

    value: Fraction | Moment
    memory_id: str


class Listing(Struct, frozen=True, kw_only=True):
    """Memories of any of the `statuses`, of any of the `kinds` and with any of the `tags`, if some are named.

    `created_from` is within the time asked for, `created_to` just beyond. The greatest value comes first: the most important,
    the newest.
    """

    namespace: str
    statuses: tuple[Status, ...] = ("active",)
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    least_importance: Fraction = 0.0
    most_importance: Fraction = 1.0
    created_from: Moment | None = None
    created_to: Moment | None = None
    order: Order = "importance"
    after: Place | None = None
    limit: int = 50

    def place(self, memory: Memory) -> Place:
        return Place(getattr(memory, COLUMNS[self.order]), memory.memory_id)
