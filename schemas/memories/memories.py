"""The stored record: a memory with its versions' counter, validity and provenance."""

from typing import Literal

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.extraction.candidates import Source, attribution
from schemas.memories.links import Link
from schemas.policies.policies import Fraction

Status = Literal["active", "superseded", "expired", "deleted"]
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
    """A memory as published in `memory.state` and stored in Postgres.

    `version` counts its changes from 1; `sequence` is the namespace's counter at its latest change;
    `valid_from`/`valid_until` is the interval in which it held, as far as known.
    What is `pinned` is never compacted; at `expires_at` it stops being live. `links` lead to memories of its namespace that
    are not deleted; those that link to it are found by theirs. `supersedes` is the first that it superseded.
    `created_by` made it: a provider of models, or whoever sent a command. `told_by` are the users who told it, as far as known.
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
        """On whose word it rests, where no user said it: the assistant's, a tool's."""
        return attribution(self.sources)

    @property
    def said_at(self) -> Moment | None:
        """When it was last said, as far as its sources tell."""
        return max((source.timestamp for source in self.sources if source.timestamp is not None), default=None)
