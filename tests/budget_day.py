"""Moves the start of the budget day, so that tests with the real clock do not depend on midnight."""

from datetime import UTC, datetime, timedelta

from agents.budgets.budget_guard import OVERALL
from schemas.budgets.budgets import Amount
from sinks.budgets.ledger import Ledger
from sinks.postgres.connection import connect


def tomorrow() -> datetime:
    return datetime.now(UTC) + timedelta(days=1)


async def begin_tomorrow(dsn: str) -> None:
    """Counts later usage as tomorrow's, as if a worker's clock were ahead, so that midnight resets nothing. PostgreSQL's
    clock cannot be set."""
    pool = await connect(dsn)
    try:
        await Ledger(pool, tomorrow).settle("none", [], {OVERALL: Amount()})
    finally:
        await pool.close()
