"""Settings of a context block, and the templates of its lines."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

BlockFormat = Literal["rated", "dated"]
Order = Literal["best", "newest", "oldest"]

HEADING_FIELDS: Final = ("namespace", "tenant_id", "app_id", "user_id", "agent_id", "conversation_id", "mode")
LINE_FIELDS: Final = (
    *("number", "id", "namespace", "kind", "KIND", "kinds", "tags", "text", "full_text", "context"),
    *(
        "created",
        "updated",
        "said",
        "event",
        "valid_from",
        "valid_until",
        "importance",
        "tenths",
        "points",
        "band",
        "confidence",
        "attributed",
    ),
)
PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")

Heading = Annotated[str, Meta(max_length=2_000)]
Line = Annotated[str, Meta(min_length=1, max_length=500)]


class BlockSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Settings of context blocks; requests may replace some. Raises ValueError for a template with an unknown field.

    - `format`: `rated` (`- [FACT] ... (importance: 0.9, said: 2026-03-02)`) or `dated` (`1. [Created: 2026-03-02] ...`, the
      day on which it was said)
    - `heading`, `closing`: templates of the first and the last lines, in place of the format's own, with fields in braces such
      as `{namespace}`, where two braces stand for one
    - `line`: template of the line of a memory, with fields in braces such as `{text}`, where two braces stand for one
    - `max_memories`, `max_said`: most memories, and most passages of earlier messages
    - `max_tokens`: tokens of the block, counted as windows count
    - `order`: best first, newest first, or oldest first, which keeps the beginning of the prompt unchanged
    - `tail_share`, `said_share`: shares of the tokens for recent messages (at most) and for passages while other parts need
      the room; memories get the rest
    """

    format: BlockFormat = "rated"
    heading: Heading | None = None
    line: Line | None = None
    closing: Heading | None = None
    order: Order = "best"
    max_memories: Annotated[int, Meta(ge=1, le=100)] = 10
    max_said: Annotated[int, Meta(ge=0, le=50)] = 5
    max_tokens: Annotated[int, Meta(ge=20, le=200_000)] = 1_000
    tail_share: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.5
    said_share: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.25

    def __post_init__(self) -> None:
        for name, known in (("heading", HEADING_FIELDS), ("line", LINE_FIELDS), ("closing", HEADING_FIELDS)):
            _require_fields(name, getattr(self, name) or "", known)


def _require_fields(name: str, template: str, known: tuple[str, ...]) -> None:
    for part in PART.finditer(template):
        if part[0] in ("{", "}"):
            raise ValueError(f"{name} has a single {part[0]!r} at character {part.start()}: write {part[0] * 2!r}")
        if part[1] is not None and part[1] not in known:
            fields = ", ".join("{" + field + "}" for field in known)
            raise ValueError(f"{name} has {part[0]!r}, and may have {fields}")


def filled(template: str, values: Mapping[str, str]) -> str:
    """A checked template with its fields replaced. Braces in values have no meaning."""
    return PART.sub(lambda part: part[0][0] if part[1] is None else values[part[1]], template)


def uses(template: str, field: str) -> bool:
    """Whether a template has a field."""
    return any(part[1] == field for part in PART.finditer(template))
