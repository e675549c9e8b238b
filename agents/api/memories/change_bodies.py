"""Request bodies of changes to memories."""

from math import isfinite
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from schemas.conversations.messages import Identifier, Moment, require_storable
from schemas.extraction.candidates import FullText, Labels, Links, Text
from schemas.memories.commands import NewKinds
from schemas.policies.policies import Fraction
from schemas.retrieval.searches import Scale, as_fraction

Said = Annotated[Text, Meta(min_length=1, pattern=r"\S")]
Reason = Annotated[str, Meta(max_length=1_000)]
Importance = Annotated[float, Meta(ge=0, le=1_000_000)]

MOST: dict[Scale, float] = {"fraction": 1.0, "tenths": 10.0}  # points above 1,000,000 count as many


class NewMemory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory made by hand: with a `text`, or with a `full_text` of which a short one is made. `kind` is its first kind, `kinds`
    are further ones; filters find it by each. `new_kinds` describe kinds that the policy does not have.
    `told_by` are the users who told it. Its `importance` is on the `scale`: 0 to 1, 0 to 10, or 0 to 10,000 and more; without one
    it is rated. What it says holds from `valid_from`, by default now, until `valid_until`."""

    namespace: Identifier
    text: Said | None = None
    kind: Identifier | None = None
    kinds: Labels | None = None
    tags: Labels | None = None
    context: Text | None = None
    full_text: FullText | None = None
    importance: Importance | None = None
    scale: Scale = "fraction"
    confidence: Fraction | None = None
    pinned: bool | None = None
    expires_at: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    links: Links | None = None
    told_by: Labels | None = None
    new_kinds: NewKinds | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        require_on_scale(self.importance, self.scale)
        require_storable(self.expires_at, self.valid_from, self.valid_until)
        if self.text is None and not (self.full_text and self.full_text.strip()):
            raise ValueError("there is nothing to remember: give a `text`, or a `full_text`")

    def fields(self) -> dict[str, Any]:
        """Of a command."""
        return in_command({name: value for name, value in asdict(self).items() if value is not None})


class ChangedMemory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be different about a memory; what is left out stays, and nothing can be null. `new_kinds` describe kinds
    that the policy does not have. `kinds` (further ones), `tags` and `links` replace those that there are. Of a new
    `full_text` without a `text` a short one is made. The `importance` is on the `scale`. What it says holds from `valid_from`
    until `valid_until`."""

    text: Said | UnsetType = UNSET
    kind: Identifier | UnsetType = UNSET
    kinds: Labels | UnsetType = UNSET
    new_kinds: NewKinds | UnsetType = UNSET
    tags: Labels | UnsetType = UNSET
    context: Text | UnsetType = UNSET
    full_text: FullText | UnsetType = UNSET
    importance: Importance | UnsetType = UNSET
    scale: Scale = "fraction"
    confidence: Fraction | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    expires_at: Moment | UnsetType = UNSET
    valid_from: Moment | UnsetType = UNSET
    valid_until: Moment | UnsetType = UNSET
    links: Links | UnsetType = UNSET
    reason: Reason | None = None

    def __post_init__(self) -> None:
        require_on_scale(None if self.importance is UNSET else self.importance, self.scale)
        require_storable(self.expires_at, self.valid_from, self.valid_until)
        if not {name for name, value in asdict(self).items() if value is not UNSET} - {"scale", "reason"}:
            raise ValueError("nothing is to be different: give at least one field, such as `text`")

    def fields(self) -> dict[str, Any]:
        """Of a command."""
        return in_command({name: value for name, value in asdict(self).items() if value not in (UNSET, None)})


class Undo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Take back the latest change of a memory, or the one that made `version`."""

    version: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    reason: Reason | None = None


class Uninstall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An app is gone. What it is remembered by stays, unless `purge` asks to erase it for good."""

    namespace: Identifier
    purge: bool = False
    reason: Reason | None = None


def require_on_scale(importance: float | None, scale: Scale) -> None:
    """Raises ValueError, which decoding makes an `invalid` with its place."""
    if importance is not None and not (isfinite(importance) and importance <= MOST.get(scale, importance)):
        raise ValueError(f"importance is at most {MOST[scale]:g} on the scale `{scale}`: name another `scale`")


def in_command(fields: dict[str, Any]) -> dict[str, Any]:
    """By the names that commands have for them."""
    scale = fields.pop("scale")
    if "importance" in fields:
        fields["importance"] = as_fraction(fields["importance"], scale)
    if "kind" in fields:
        fields["memory_kind"] = fields.pop("kind")
    return fields
