"""Generations: the plan of a replay, its progress and its outcome."""

from typing import Literal

from msgspec import Struct

from schemas.access.keys import EVERYWHERE, Pattern
from schemas.conversations.messages import Moment
from schemas.policies.policies import Policies

ReplaySource = Literal["archive", "kafka"]
GenerationStatus = Literal["building", "ready", "cutover", "undone", "discarding"]


class Plan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan of a replay: messages from `since` until before `until` that feed `namespaces` (a pattern as in keys).

    `policies` are the policies of the replay, fixed when it began; `overridden` names those that did not apply before.
    `provider` and `model` replace those of the settings.
    """

    until: Moment
    policies: Policies
    namespaces: Pattern = EVERYWHERE
    since: Moment | None = None
    source: ReplaySource = "archive"
    overridden: tuple[str, ...] = ()
    provider: str | None = None
    model: str | None = None


class Generation(Struct, frozen=True, kw_only=True):
    """A replay. `building` until all conversations are replayed, then `ready`; `cutover` while its memories replace the live
    ones, `undone` after that was reverted; `discarding` while its memories are deleted.

    It ignores messages that arrived after `created_at`.
    """

    generation_id: str
    plan: Plan
    status: GenerationStatus
    created_at: Moment
    changed_at: Moment


class Progress(Struct, frozen=True, kw_only=True):
    """Progress of a generation: conversations, those that are done, answered slices, slices that can never be answered (with
    one reason as an example), and fed namespaces."""

    conversations: int = 0
    done: int = 0
    slices: int = 0
    failed: int = 0
    failure: str | None = None
    namespaces: int = 0
