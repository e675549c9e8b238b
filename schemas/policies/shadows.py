"""Names of shadow namespaces, in which a replay stores memories beside the live namespace.

Others cannot name one: `namespaces.quote_part` escapes values, and input with such a name is refused.
"""

import re
from typing import Final

RESERVED: Final = "~"  # the prefix of shadow namespaces
SHADOW: Final = re.compile(r"~([0-9a-f]{8})/(.*)", re.DOTALL)


def shadow_of(generation: str, namespace: str) -> str:
    """The shadow namespace of a namespace in a generation (eight hexadecimal digits)."""
    return f"{RESERVED}{generation}/{namespace}"


def live_namespace_of(namespace: str) -> str:
    """The live namespace of a shadow; other namespaces are their own."""
    found = SHADOW.fullmatch(namespace)
    return found[2] if found else namespace


def is_reserved(namespace: str) -> bool:
    return namespace.startswith(RESERVED)


def refuse_reserved(namespace: str) -> None:
    """Raises ValueError for a name that is reserved for memstream."""
    if is_reserved(namespace):
        raise ValueError(f"namespace {namespace!r} begins with {RESERVED!r}, which is reserved: choose another name")
