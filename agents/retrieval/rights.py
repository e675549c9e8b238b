"""Who may read a passage: whoever may read one of the namespaces that own it. Pure.

A namespace of an app or a team is read by people who took no part in the conversation: with `{app_id}` beside
`{app_id}/{user_id}`, whoever reads what an app knows must not read along with each of its users.
"""

from collections.abc import Callable, Collection
from typing import TypeAlias

from msgspec.structs import replace

from schemas.retrieval.searches import Found, Hit, SaidHit

MayRead: TypeAlias = Callable[[str], bool]


def everything(namespace: str) -> bool:
    """For callers who may read all namespaces."""
    return True


def may_read_any(may_read: MayRead, owners: Collection[str]) -> bool:
    return any(map(may_read, owners))


def permitted(found: Found, may_read: MayRead) -> Found:
    """What was found, without the passages that the caller may not read. Rights to memories are checked before a search."""

    def readable(hit: Hit | SaidHit) -> bool:
        return isinstance(hit, Hit) or may_read_any(may_read, hit.owners)

    return replace(found, said=tuple(filter(readable, found.said)), mixed=tuple(filter(readable, found.mixed)))
