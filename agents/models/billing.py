"""The port of budgets: reserves the maximum cost before a model call, and books the actual cost afterwards."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.models.port import Usage
from schemas.budgets.budgets import Budget, Lane
from schemas.budgets.usage import Operation, Outcome
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

TOKEN_FIELDS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class Payer(Struct, frozen=True, kw_only=True):
    """The namespaces that share a bill evenly, each within `budget`. Without namespaces only the deployment's budget is
    charged."""

    namespaces: tuple[str, ...] = ()
    budget: Budget = Budget()
    lane: Lane = "live"
    request_id: str | None = None
    conversation_id: str | None = None

    @classmethod
    def of(cls, request: ExtractionRequest, policy: Policy) -> "Payer":
        """The payer of a request. For a summary: the namespaces that the conversation feeds."""
        return cls(
            namespaces=request.namespaces or policy.namespaces_of(request.scope),
            budget=policy.budget,
            lane=request.lane,
            request_id=request.request_id,
            conversation_id=request.conversation_id,
        )

    @classmethod
    def of_batch(cls, batch: CandidateBatch, policy: Policy) -> "Payer":
        """The payer of optional work on a request's candidates for one namespace."""
        payer = cls.of_namespaces([batch.namespace], policy)
        return replace(payer, request_id=batch.request_id, conversation_id=batch.conversation_id)

    @classmethod
    def of_memories(cls, memories: Sequence[Memory], policy: Policy) -> "Payer":
        """The payer of work on stored memories, in the background lane."""
        return cls.of_namespaces(dict.fromkeys(memory.namespace for memory in memories), policy)

    @classmethod
    def of_namespaces(cls, namespaces: Iterable[str | None], policy: Policy) -> "Payer":
        """The payer of optional work, in the background lane: if the budget is spent, the work is skipped or a rule does it."""
        named = tuple(name for name in namespaces if name is not None)
        return cls(namespaces=named, budget=policy.budget, lane="background")


class PricedWork(Struct, frozen=True, kw_only=True):
    """A question before its calls. `max_usage` is an upper bound of the tokens of all its calls."""

    operation: Operation
    payer: Payer
    provider: str
    model: str
    max_usage: Usage


class Bill(Struct, frozen=True, kw_only=True):
    """One model call as the provider billed it."""

    model: str
    usage: Usage


class BudgetGuard(Protocol):
    """Enforces the budgets of model calls. Every reservation must be settled exactly once, even if nothing was billed."""

    async def reserve(self, work: PricedWork, lasts_s: float = ...) -> str:
        """Reserves the maximum cost and returns the reservation's id. It expires after `lasts_s` seconds, for workers that
        died.

        Raises Deferred `budget` if a budget has no room for this lane, and Retryable.
        """

    async def settle(self, work: PricedWork, reservation_id: str, bills: Sequence[Bill], outcome: Outcome) -> None:
        """Replaces the reservation by the bills. Repeats failed bookings later; never raises."""


def split_usage(usage: Usage, weights: Sequence[int]) -> tuple[Usage, ...]:
    """Splits the tokens of a shared call by weight, at least one. The shares are in the order of the weights and add up to the
    total."""
    total_weight, given, weight_so_far, shares = sum(weights) or 1, [0] * len(TOKEN_FIELDS), 0, list[Usage]()
    for weight in weights:
        weight_so_far += weight
        due = [getattr(usage, name) * weight_so_far // total_weight for name in TOKEN_FIELDS]
        shares.append(replace(usage, **{name: due[at] - given[at] for at, name in enumerate(TOKEN_FIELDS)}))
        given = due
    rest = {name: getattr(usage, name) - given[at] + getattr(shares[-1], name) for at, name in enumerate(TOKEN_FIELDS)}
    return (*shares[:-1], replace(shares[-1], **rest))


@asynccontextmanager
async def reserved_budget(budget_guard: BudgetGuard, work: PricedWork) -> AsyncIterator[list[Bill]]:
    """Reserves budget for one question; the caller appends each bill to the list. Raises as `reserve` does."""
    reservation_id = await budget_guard.reserve(work)
    bills: list[Bill] = []
    outcome: Outcome = "failed"
    try:
        yield bills
        outcome = "answered"
    finally:
        await budget_guard.settle(work, reservation_id, bills, outcome)
