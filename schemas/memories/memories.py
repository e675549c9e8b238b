"""The stored memory, with version, validity and provenance."""

from typing import Literal, get_args

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.extraction.candidates import Source, attribution
from schemas.extraction.links import Link
from schemas.policies.policies import Fraction

Status = Literal["active", "superseded", "expired", "deleted"]
EVERY_STATUS: tuple[Status, ...] = get_args(Status)
Change = Literal[
    "created",
    "reinforced",
    "merged",
    "updated",
    "superseded",
    "expired",
    "deleted",
    "compacted",
    "restored",
    "purged",
]


class Memory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory as published in `memory.state` and stored in PostgreSQL.

    `version` counts its changes from 1; `sequence` is the namespace's counter at its latest change. `valid_from` and
    `valid_until` limit when it holds, as far as known. `pinned` memories are never compacted; at `expires_at` a memory stops
    being live. `links` lead to memories of its namespace that are not deleted; links to it are stored with the other
    memories. `supersedes` is the first memory that it superseded. `created_by` is the provider or the sender of the command
    that created it; `told_by` are the users who told it, as far as known.
    """

    memory_id: str
    namespace: str
    kind: str
    text: str
    importance: Fraction
    confidence: Fraction
    version: int
    sequence: int
    status: Status
    created_at: Moment
    updated_at: Moment
    created_by: str
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    context: str | None = None
    full_text: str | None = None
    language: str | None = None
    event_time: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    superseded_by: str | None = None
    supersedes: str | None = None
    reinforcement_count: int = 0
    last_reinforced_at: Moment | None = None
    sources: tuple[Source, ...] = ()
    pinned: bool = False
    expires_at: Moment | None = None
    links: tuple[Link, ...] = ()
    told_by: tuple[str, ...] = ()

    @property
    def attributed_to(self) -> str | None:
        """Its author if no user said it: the assistant or a tool."""
        return attribution(self.sources)

    @property
    def said_at(self) -> Moment | None:
        """The time of the latest source."""
        return max((source.timestamp for source in self.sources if source.timestamp is not None), default=None)
