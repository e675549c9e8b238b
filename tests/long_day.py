"""A day that lasts: budgets that are counted by the real clock, in tests that midnight must not change."""

from datetime import UTC, datetime, timedelta

from agents.budgets.energy import OVERALL
from schemas.budgets.budgets import Amount
from sinks.budgets.ledger import Ledger
from sinks.postgres.connection import connect


def tomorrow() -> datetime:
    return datetime.now(UTC) + timedelta(days=1)


async def begin_tomorrow(dsn: str) -> None:
    """What all spend together from now on counts as tomorrow's, as if some worker's clock were ahead: today's midnight clears
    nothing. PostgreSQL's clock cannot be set."""
    pool = await connect(dsn)
    try:
        await Ledger(pool, tomorrow).settle("none", [], {OVERALL: Amount()})
    finally:
        await pool.close()
