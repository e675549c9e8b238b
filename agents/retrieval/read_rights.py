"""Rights to passages: a caller may read a passage if they may read one of the namespaces that own it. Pure.

Shared namespaces do not own passages. With the templates `{app_id}` and `{app_id}/{user_id}`, a reader of the app's
namespace must not read every user's messages.
"""

from collections.abc import Callable, Collection
from typing import TypeAlias

MayRead: TypeAlias = Callable[[str], bool]


def allow_all(namespace: str) -> bool:
    """The right of callers who may read all namespaces."""
    return True


def may_read_any(may_read: MayRead, owners: Collection[str]) -> bool:
    return any(map(may_read, owners))
