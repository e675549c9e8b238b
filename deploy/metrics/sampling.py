"""Gauges sampled from outside of the process: PostgreSQL, budgets, availability of models."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import get_args

from agents.budgets.arithmetic import limit_statuses
from agents.budgets.budget_guard import OVERALL
from agents.models.calls.breaker import BreakerState
from agents.models.model_provider import ModelProvider
from agents.models.port import Provider
from deploy.metrics.meters import Meters
from schemas.budgets.budgets import Budget
from sinks.budgets.ledger import Ledger
from sinks.metrics.stored_counts import stored_counts
from sinks.postgres.connection import Pool

BREAKER_STATES: tuple[BreakerState, ...] = get_args(BreakerState)
LANES = ("live", "background")
STATUSES = ("pending", "running", "completed", "failed")
PHASES = ("open", "ended", "forgotten")


async def sample(meters: Meters, pool: Pool, budget: Budget) -> None:
    """Samples PostgreSQL and the budgets. Raises Retryable."""
    found = await stored_counts(pool)
    meters.outbox.set(found.outbox)
    meters.outbox_age_s.set(found.outbox_age_s)
    meters.memories.set(found.memories)
    meters.passages.set(found.passages)
    meters.passage_bytes.set(found.passage_bytes)
    meters.passage_removals_age_s.set(found.passage_removals_age_s)
    meters.namespaces.labels("some").set(found.namespaces_with_memories)
    meters.namespaces.labels("none").set(found.namespaces - found.namespaces_with_memories)
    for phase in PHASES:
        meters.windows.labels(phase).set(found.windows.get(phase, 0))
    meters.split_conversations.set(found.split_conversations)
    for lane in LANES:
        meters.parked.labels(lane).set(found.parked.get(lane, 0))
    for status in STATUSES:
        meters.runs.labels(status).set(found.runs.get(status, 0))
    meters.overdue_s.set(found.overdue_s)
    for limit in limit_statuses(budget, (await Ledger(pool).levels([OVERALL]))[OVERALL], datetime.now(UTC)):
        meters.budget_left.labels(limit.limit).set(limit.remains / limit.of if limit.of else 0.0)


async def provider_states(meters: Meters, providers: Iterable[Provider]) -> list[tuple[str, BreakerState | None, bool]]:
    """The name, breaker state and availability of each provider. A failed provider is unavailable until a probe of its
    circuit breaker succeeds."""
    found: list[tuple[str, BreakerState | None, bool]] = []
    for provider in providers:
        state = provider.breaker_state() if isinstance(provider, ModelProvider) else None
        if state is not None:
            for each in BREAKER_STATES:
                meters.breaker.labels(provider.name, each).set(float(each == state))
        available = state in (None, "closed") and await provider.unavailable_reason() is None
        meters.available.labels(provider.name).set(float(available))
        found.append((provider.name, state, available))
    return found
