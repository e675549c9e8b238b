"""Sweeps of the archive: deletion of old messages that were consolidated, with statistics."""

from typing import Literal

from msgspec import Struct

from schemas.conversations.messages import Moment

SweepTrigger = Literal["schedule", "hand"]
SweepStatus = Literal["pending", "running", "completed"]


class SweepRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A manual sweep; with `dry_run` it only counts."""

    dry_run: bool = False


class RetentionStatistics(Struct, frozen=True, kw_only=True):
    """Statistics of one policy's conversations: messages that the archive keeps after a sweep, and those it deleted, or
    would delete in a dry run.

    `days` is the policy's `retention_days`, 0: forever. `held` messages are older and stay, because their extraction is not
    complete or because they are in the context of a live conversation. `bytes` are those of contents.
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
        """The sum of both, with the `days` of the other one."""
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
    """A sweep: progress and outcome per policy. `usage` and `prunings` are the usage records and pruning records that it
    deleted, or would delete."""

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
