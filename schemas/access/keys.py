"""Keys of the API: the rights of a bearer in namespaces."""

import re
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Moment

Right = Literal["read", "write", "admin"]
EVERYWHERE = "*"

RANKS: dict[Right, int] = {"read": 1, "write": 2, "admin": 3}

Pattern = Annotated[str, Meta(min_length=1, max_length=256)]


class Grant(Struct, frozen=True):
    """A right, including lower ones, in the namespaces that a pattern matches. `*` matches any characters, `/` included;
    everything else matches itself."""

    right: Right
    namespaces: Pattern

    def allows(self, right: Right, namespace: str) -> bool:
        return RANKS[right] <= RANKS[self.right] and covers(self.namespaces, namespace)


class Key(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored key, without its token."""

    key_id: Identifier
    name: Identifier
    grants: tuple[Grant, ...]
    created_at: Moment
    expires_at: Moment | None = None
    revoked_at: Moment | None = None
    last_used_at: Moment | None = None

    def is_valid(self, at: Moment) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


def covers(pattern: str, namespace: str) -> bool:
    return compiled(pattern).fullmatch(namespace) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Takes the first match of each part and never backtracks, which would be exponential in the number of stars."""
    first, *parts = map(re.escape, pattern.split("*"))
    if not parts:
        return re.compile(first)
    between = "".join(f"(?>.*?{part})" for part in parts[:-1] if part)
    return re.compile(f"{first}{between}.*{parts[-1]}", re.DOTALL)
