"""Parameters of a list of memories: one namespace, filters, an order, and the place where the last page ended."""

from typing import Literal, TypeAlias

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.memories.memories import Memory, Status
from schemas.policies.policies import Fraction

Order: TypeAlias = Literal["importance", "created", "updated"]

COLUMNS: dict[Order, str] = {"importance": "importance", "created": "created_at", "updated": "updated_at"}


class Place(Struct, frozen=True):
    """The position of a memory in an order: its importance or time, and its id as the tie-breaker."""

    value: Fraction | Moment
    memory_id: str


class Listing(Struct, frozen=True, kw_only=True):
    """Selects memories with any of the `statuses`, any of the `kinds` and any of the `tags` given.

    `created_from` is inclusive, `created_to` exclusive. Orders are descending: most important or newest first.
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
