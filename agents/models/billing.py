"""The budgets' port, "energy": what is asked before a model is, for whom, and what is told of the bill afterwards."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from msgspec import Struct

from agents.models.port import Usage
from schemas.budgets.budgets import Budget
from schemas.budgets.usage import Operation, Outcome
from schemas.extraction.requests import ExtractionRequest, Lane
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy


class Payer(Struct, frozen=True, kw_only=True):
    """For whom a model is asked: its namespaces share the bill evenly, each within `budget`. For nobody in particular, no
    namespace's budget is charged, only the one of all together."""

    namespaces: tuple[str, ...] = ()
    budget: Budget = Budget()
    lane: Lane = "live"
    request_id: str | None = None
    conversation_id: str | None = None

    @classmethod
    def of(cls, request: ExtractionRequest, policy: Policy) -> "Payer":
        """A summary, which feeds no namespace, is paid for by those that its conversation feeds."""
        return cls(
            namespaces=request.namespaces or policy.namespaces_of(request.scope),
            budget=policy.budget,
            lane=request.lane,
            request_id=request.request_id,
            conversation_id=request.conversation_id,
        )

    @classmethod
    def of_memories(cls, memories: Sequence[Memory], policy: Policy) -> "Payer":
        """Nobody waits for what is done about memories that are stored already."""
        return cls.of_namespaces(dict.fromkeys(memory.namespace for memory in memories), policy)

    @classmethod
    def of_namespaces(cls, namespaces: Iterable[str | None], policy: Policy) -> "Payer":
        """For what may be left out, or be made by a rule, when there is no room for it."""
        named = tuple(name for name in namespaces if name is not None)
        return cls(namespaces=named, budget=policy.budget, lane="background")


class Work(Struct, frozen=True, kw_only=True):
    """A question that is about to be put to a model. `most` bounds what all its calls together can be billed."""

    operation: Operation
    payer: Payer
    provider: str
    model: str
    most: Usage


class Bill(Struct, frozen=True, kw_only=True):
    """One model call as the provider billed it."""

    model: str
    usage: Usage


class Energy(Protocol):
    """What may be spent on models. Whoever reserves settles, exactly once, also when nothing was billed."""

    async def reserve(self, work: Work, lasts_s: float = ...) -> str:
        """An id to settle under; after `lasts_s` the reservation is void, as its worker must have died.

        Raises Deferred `budget` when a budget has no room for work of this lane, and Retryable.
        """

    async def settle(self, work: Work, reservation_id: str, bills: Sequence[Bill], outcome: Outcome) -> None:
        """Books what was billed in place of what was reserved. What cannot be booked now is booked later; never raises."""


@asynccontextmanager
async def spending(energy: Energy, work: Work) -> AsyncIterator[list[Bill]]:
    """The tab of one question: whoever asks adds each bill. Raises as `reserve` does, before anything is asked."""
    reservation_id = await energy.reserve(work)
    tab: list[Bill] = []
    outcome: Outcome = "failed"
    try:
        yield tab
        outcome = "answered"
    finally:
        await energy.settle(work, reservation_id, tab, outcome)
