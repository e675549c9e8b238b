"""Response shapes of memories: short or full, with the importance on every scale."""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from schemas.conversations.messages import Moment
from schemas.extraction import importance
from schemas.extraction.importance import Band
from schemas.memories.memories import Memory
from sinks.memories.access_counts import Access

Detail: TypeAlias = Literal["short", "full"]

OMITTED_IN_SHORT_VIEW = {"full_text": None, "context": None, "sources": ()}  # fields of the full view only


class MemoryView(Memory, frozen=True, kw_only=True, omit_defaults=True):
    """A memory, with its importance also in tenths (0 to 10), in points (0 to 10,000 and more) and as the name of a band.

    `attributed_to` names the speaker if no user said it, such as the assistant. `said_at` is the time of the latest source
    message. The short view omits `full_text`, `context` and `sources`. `access_count` and `last_accessed_at` lag some
    seconds behind and do not change the version.
    """

    importance_tenths: float
    importance_points: int
    importance_band: Band
    attributed_to: str | None = None
    said_at: Moment | None = None
    access_count: int = 0
    last_accessed_at: Moment | None = None


class MemoryPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Memories in the requested order. `next` is the cursor of the following page, absent on the last page."""

    memories: tuple[MemoryView, ...]
    next: str | None = None


def memory_view(memory: Memory, detail: Detail, access: Access | None = None) -> MemoryView:
    points = importance.points(memory.importance)
    fields = asdict(memory) | (OMITTED_IN_SHORT_VIEW if detail == "short" else {})
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
    """Returns the ETag: the version, with a suffix for the short view, which is a different representation."""
    return f'"{memory.version}"' if detail == "full" else f'"{memory.version}-short"'


def etag_matches(condition: str, tag: str, *, weakly: bool = False) -> bool:
    """Whether an `If-Match` or `If-None-Match` header matches the tag. With `weakly`, as for `If-None-Match`, tags marked
    `W/` match too."""
    tags = (each.strip() for each in condition.split(","))
    return condition.strip() == "*" or tag in ((each.removeprefix("W/") for each in tags) if weakly else tags)
