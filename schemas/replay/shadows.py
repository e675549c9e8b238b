"""Names of shadow namespaces: what a replay remembers rests in one of them, beside the namespace that it stands for.

Nothing that others write may name one: no value gets past `namespaces.quote_part`, and what comes in by itself is refused.
"""

import re
from typing import Final

RESERVED: Final = "~"  # what such a name begins with, and no other
SHADOW: Final = re.compile(r"~([0-9a-f]{8})/(.*)", re.DOTALL)


def shadow_of(generation: str, namespace: str) -> str:
    """Where a generation (eight hexadecimal digits) remembers what is of a namespace."""
    return f"{RESERVED}{generation}/{namespace}"


def live_namespace_of(namespace: str) -> str:
    """The namespace that a shadow stands for; any other stands for itself."""
    found = SHADOW.fullmatch(namespace)
    return found[2] if found else namespace


def is_reserved(namespace: str) -> bool:
    return namespace.startswith(RESERVED)


def refuse_reserved(namespace: str) -> None:
    """Raises ValueError for a name that only memstream gives."""
    if is_reserved(namespace):
        raise ValueError(f"namespace {namespace!r} begins with {RESERVED!r}, which is reserved: choose another name")
