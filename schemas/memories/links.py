"""How memories of one namespace hang together: a link is kept with the memory that says it, the later one of two."""

from typing import Literal

from msgspec import Struct

LinkType = Literal["supersedes", "refines", "relates"]


class Link(Struct, frozen=True, kw_only=True):
    """`supersedes`: the other memory held before, and no longer. `refines`: this one tells more of what the other says.
    `relates`: they are about the same, and neither says the other."""

    type: LinkType
    memory_id: str
