"""Who may read a passage: whoever may read every namespace that its message feeds, as with conversations. Pure."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from agents.conversations.owners import may
from schemas.retrieval.searches import Found, Hit, SaidHit

MayRead: TypeAlias = Callable[[str], bool]


def everything(namespace: str) -> bool:
    """For callers who may read all namespaces."""
    return True


def permitted(found: Found, may_read: MayRead) -> Found:
    """What was found, without the passages that the caller may not read. Rights to memories are checked before a search."""

    def readable(hit: Hit | SaidHit) -> bool:
        return isinstance(hit, Hit) or may(may_read, hit.feeds)

    return replace(found, said=tuple(filter(readable, found.said)), mixed=tuple(filter(readable, found.mixed)))
