"""Kinds of memories, of which a policy's taxonomy consists."""

from collections.abc import Iterable
from typing import Annotated, Final

from msgspec import Meta, Struct

KindName = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^\S(.*\S)?$")]


class Kind(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A kind: `description` says to models and people which memories belong to it, `icon` is shown with it."""

    name: KindName
    description: Annotated[str, Meta(max_length=300)] = ""
    icon: Annotated[str, Meta(max_length=16)] = ""


def with_descriptions(kinds: Iterable[KindName | Kind]) -> tuple[Kind, ...]:
    """Kinds given as names have no description; those of the built-in set have the built-in one."""
    return tuple(kind if isinstance(kind, Kind) else BUILT_IN.get(kind, Kind(name=kind)) for kind in kinds)


DEFAULT_KINDS: Final = (
    Kind(name="fact", description="What is so: about the user, their work, their world", icon="📌"),
    Kind(name="preference", description="What the user likes, wants or always wishes done in a certain way", icon="⭐"),
    Kind(name="decision", description="A choice that was made, with its reason", icon="⚖️"),
    Kind(name="plan", description="What the user intends to do, with its date", icon="🗓️"),
    Kind(name="insight", description="What was understood: a connection, a conclusion", icon="💡"),
)
BUILT_IN: Final = {kind.name: kind for kind in DEFAULT_KINDS}
