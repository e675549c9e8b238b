"""Sweeps of the short-term tier: what is old enough and was consolidated leaves the archive; what was there, in numbers."""

from typing import Literal

from msgspec import Struct

from schemas.conversations.messages import Moment

SweepTrigger = Literal["schedule", "hand"]
SweepStatus = Literal["pending", "running", "completed"]


class SweepRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A sweep by hand; a `dry_run` only counts."""

    dry_run: bool = False


class RetentionStatistics(Struct, frozen=True, kw_only=True):
    """Of one policy's conversations: what the archive keeps after a sweep, and what left it, or would have in a dry run.

    `days` are the policy's retention_days, 0 for ever. `held` messages are older than that and stay: no extraction of them is
    completed, or they are in the context of a conversation that goes on. `bytes` are those of contents.
    """

    policy: str
    days: int
    messages: int = 0
    bytes: int = 0
    oldest: Moment | None = None
    held: int = 0
    pruned: int = 0
    pruned_bytes: int = 0

    def __add__(self, other: "RetentionStatistics") -> "RetentionStatistics":
        """Both together, under the days of the other one."""
        oldest = [each for each in (self.oldest, other.oldest) if each is not None]
        return RetentionStatistics(
            policy=self.policy,
            days=other.days,
            messages=self.messages + other.messages,
            bytes=self.bytes + other.bytes,
            oldest=min(oldest, default=None),
            held=self.held + other.held,
            pruned=self.pruned + other.pruned,
            pruned_bytes=self.pruned_bytes + other.pruned_bytes,
        )


class Sweep(Struct, frozen=True, kw_only=True):
    """A sweep: how far, and what came of it, policy by policy. `usage` and `prunings` are records of model calls and of prunings
    of windows that left their tables, or would have."""

    sweep_id: str
    trigger: SweepTrigger
    status: SweepStatus
    asked_by: str
    created_at: Moment
    dry_run: bool = False
    finished_at: Moment | None = None
    policies: tuple[RetentionStatistics, ...] = ()
    usage: int = 0
    prunings: int = 0
