"""Request bodies of changes to memories."""

from math import isfinite
from typing import Annotated, Any, get_args

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from schemas.conversations.messages import Identifier, Moment, require_storable
from schemas.extraction.candidates import FullText, Labels, Links, Text
from schemas.memories.commands import Clearable, NewKinds
from schemas.policies.policies import Fraction
from schemas.retrieval.searches import Scale, as_fraction

NonBlankText = Annotated[Text, Meta(min_length=1, pattern=r"\S")]
Reason = Annotated[str, Meta(max_length=1_000)]
Importance = Annotated[float, Meta(ge=0, le=1_000_000)]

# Points have no limit; values above 1,000,000 are capped.
SCALE_MAX: dict[Scale, float] = {"fraction": 1.0, "tenths": 10.0}


class NewMemory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory to create. It needs a `text`, or a `full_text` from which memstream makes a short text. `kind` is the main
    kind and `kinds` are further ones; filters match all of them. `new_kinds` describe kinds that the policy does not
    define. `told_by` are the ids of the users who said it. `importance` is on the `scale`: 0 to 1, 0 to 10, or 0 to
    10,000 and more; if absent, memstream rates it. The statement is valid from `valid_from` (default: now; unknown if
    `valid_until` is in the past) until `valid_until`; its event happens at `event_time`."""

    namespace: Identifier
    text: NonBlankText | None = None
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
    event_time: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    links: Links | None = None
    told_by: Labels | None = None
    new_kinds: NewKinds | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        require_on_scale(self.importance, self.scale)
        require_storable(self.expires_at, self.event_time, self.valid_from, self.valid_until)
        if self.text is None and not (self.full_text and self.full_text.strip()):
            raise ValueError("the memory has no text: give `text` or `full_text`")

    def fields(self) -> dict[str, Any]:
        """Returns the fields of the command that creates the memory."""
        return to_command_fields({name: value for name, value in asdict(self).items() if value is not None})


class ChangedMemory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a memory to change; absent fields stay as they are. Only `event_time`, `valid_from` and `valid_until` may be
    null, which clears them. `new_kinds` describe kinds that the policy does not define. `kinds` (further kinds), `tags` and
    `links` replace the existing ones. For a new `full_text` without a `text`, memstream makes a short text. `importance`
    is on the `scale`. The statement is valid from `valid_from` until `valid_until`; its event happens at `event_time`. Without
    `event_time`, a new text that no longer names the day of the event moves the event to the day that it names instead, or
    clears it."""

    text: NonBlankText | UnsetType = UNSET
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
    event_time: Moment | UnsetType | None = UNSET
    valid_from: Moment | UnsetType | None = UNSET
    valid_until: Moment | UnsetType | None = UNSET
    links: Links | UnsetType = UNSET
    reason: Reason | None = None

    def __post_init__(self) -> None:
        require_on_scale(None if self.importance is UNSET else self.importance, self.scale)
        require_storable(self.expires_at, self.event_time, self.valid_from, self.valid_until)
        if not {name for name, value in asdict(self).items() if value is not UNSET} - {"scale", "reason"}:
            raise ValueError("the request changes nothing: give at least one field, such as `text`")

    def fields(self) -> dict[str, Any]:
        """Returns the fields of the command that changes the memory."""
        cleared = tuple(name for name in get_args(Clearable) if getattr(self, name) is None)
        changed_fields = {name: value for name, value in asdict(self).items() if value not in (UNSET, None)}
        return to_command_fields(changed_fields | ({"cleared": cleared} if cleared else {}))


class Undo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reverts the latest change of a memory, or the change that made `version`."""

    version: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    reason: Reason | None = None


class MemoryErasure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Erases a memory irreversibly. Searches hide its source messages, unless `keep_messages` is true."""

    keep_messages: bool = False
    reason: Reason | None = None


class UndoneWish(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reverts a wish to have something forgotten. `namespace` is the one in which the user expressed the wish."""

    namespace: Identifier
    reason: Reason | None = None


class Uninstall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reports that an app was removed. Its memories stay unless `purge` is true, which erases the namespace irreversibly."""

    namespace: Identifier
    purge: bool = False
    reason: Reason | None = None


def require_on_scale(importance: float | None, scale: Scale) -> None:
    """Raises ValueError if the importance exceeds its scale. Decoding turns it into an `invalid` problem that names the
    field."""
    if importance is not None and not (isfinite(importance) and importance <= SCALE_MAX.get(scale, importance)):
        raise ValueError(f"importance is at most {SCALE_MAX[scale]:g} on the scale `{scale}`: name another `scale`")


def to_command_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Converts the fields of a request body to those of a command."""
    scale = fields.pop("scale")
    if "importance" in fields:
        fields["importance"] = as_fraction(fields["importance"], scale)
    if "kind" in fields:
        fields["memory_kind"] = fields.pop("kind")
    return fields
