"""Generations: what a replay is to go through and by which settings, how far it is, and what became of it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from schemas.access.keys import EVERYWHERE, Pattern
from schemas.conversations.messages import Moment
from schemas.policies.policies import Policies

ReplaySource = Literal["archive", "kafka"]
GenerationStatus = Literal["building", "ready", "cutover", "undone", "discarding"]
GenerationId = Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]


class Plan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is replayed: what was said from `since` until before `until`, as far as it feeds `namespaces` (a pattern like keys').

    `policies` are those that apply, kept as they were when it began; `overridden` names those that did not apply until then.
    `provider` and `model` are asked instead of those of the settings.
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
    """One replay. `building` until all of its conversations are replayed, then `ready`; `cutover` while what it remembers stands
    in for what was remembered before, `undone` once that is taken back; `discarding` from when its memories begin to be removed.

    Nothing that came in after `created_at` is part of it.
    """

    generation_id: str
    plan: Plan
    status: GenerationStatus
    created_at: Moment
    changed_at: Moment


class Progress(Struct, frozen=True, kw_only=True):
    """Of a generation: conversations there are and those that are done, slices answered, slices that can never be answered with
    one reason as an example, namespaces fed."""

    conversations: int = 0
    done: int = 0
    slices: int = 0
    failed: int = 0
    failure: str | None = None
    namespaces: int = 0
