"""Links between memories of a namespace. The later of the two memories has the link."""

from typing import Literal

from msgspec import Struct

LinkType = Literal["supersedes", "refines", "relates"]


class Link(Struct, frozen=True, kw_only=True):
    """A link to another memory. `supersedes`: the other one no longer holds. `refines`: this one says more than the other
    one. `relates`: both have the same subject, and neither says the other."""

    type: LinkType
    memory_id: str
