"""Memories as the API shows them: short or full, with their importance on every scale."""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from schemas.conversations.messages import Moment
from schemas.memories import importance
from schemas.memories.importance import Band
from schemas.memories.memories import Memory
from sinks.memories.access_counts import Access

Detail: TypeAlias = Literal["short", "full"]

LONG = {"full_text": None, "context": None, "sources": ()}  # what only the full view has


class MemoryView(Memory, frozen=True, kw_only=True, omit_defaults=True):
    """A memory, with its importance also in tenths (0 to 10), in points (0 to 10,000 and more) and as a band's name.

    `attributed_to`: on whose word it rests where no user said it, as the assistant's. `said_at`: when it was last said, by the
    latest of its sources. The short view leaves out `full_text`, `context` and `sources`. How often it was read, and when last,
    is counted some seconds behind, and changes no version.
    """

    importance_tenths: float
    importance_points: int
    importance_band: Band
    attributed_to: str | None = None
    said_at: Moment | None = None
    access_count: int = 0
    last_accessed_at: Moment | None = None


class MemoryPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Memories in their order; `next` is the cursor of the page behind them, absent on the last."""

    memories: tuple[MemoryView, ...]
    next: str | None = None


def view(memory: Memory, detail: Detail, access: Access | None = None) -> MemoryView:
    points = importance.points(memory.importance)
    fields = asdict(memory) | (LONG if detail == "short" else {})
    return MemoryView(
        **fields,
        importance_tenths=importance.tenths(memory.importance),
        importance_points=points,
        importance_band=importance.band(points),
        attributed_to=memory.attributed_to,
        said_at=memory.said_at,
        access_count=access.access_count if access else 0,
        last_accessed_at=access.last_accessed_at if access else None,
    )


def etag(memory: Memory, detail: Detail) -> str:
    """A memory changes only with its version; its two views are different representations."""
    return f'"{memory.version}"' if detail == "full" else f'"{memory.version}-short"'


def names(condition: str, tag: str, *, weakly: bool = False) -> bool:
    """Whether an `If-Match` names the tag, or an `If-None-Match`, which compares weakly: tags marked `W/` count there too."""
    said = (each.strip() for each in condition.split(","))
    return condition.strip() == "*" or tag in ((each.removeprefix("W/") for each in said) if weakly else said)
