"""Calibrations on PostgreSQL: concurrent workers lose no updates, and unchanged rows are not written."""

import asyncio

import pytest

from schemas.conversations.windows import Calibration
from schemas.errors import Retryable
from sinks.extraction.calibrations import Calibrations
from sinks.postgres.connection import Connection, Pool, connect
from tests.deployment import eventually

MODEL = "claude"


@pytest.fixture
def calibrations(pool: Pool) -> Calibrations:
    return Calibrations(pool)


def again(known: Calibration) -> Calibration:
    return Calibration(known.mean + 1.0, known.observed + 1)


async def waiting_for_a_lock(pool: Pool, count: int = 1) -> None:
    """Returns when so many other connections to this database wait for a row."""
    waiting = (
        "SELECT count(*) = $1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    await eventually(lambda: pool.fetchval(waiting, count), f"{count} waiting for a lock", within_s=30)


async def test_concurrent_workers_lose_no_calibration_updates(dsn: str) -> None:
    pools = [await connect(dsn, max_size=3) for _ in range(3)]
    await asyncio.gather(*(Calibrations(pools[n % 3]).learn(MODEL, again) for n in range(60)))
    assert await Calibrations(pools[0]).all() == {MODEL: Calibration(60.0, 60)}
    for pool in pools:
        await pool.close()


async def test_an_update_builds_on_a_calibration_inserted_concurrently_by_another_worker(
    calibrations: Calibrations, pool: Pool, slow: Connection
) -> None:
    await slow.execute("INSERT INTO calibrations VALUES ($1, 40.0, 40, now())", MODEL)
    learning = asyncio.create_task(calibrations.learn(MODEL, again))
    await waiting_for_a_lock(pool)
    await slow.execute("COMMIT")
    assert await learning == Calibration(41.0, 41)


async def test_an_update_starts_from_nothing_when_a_concurrent_insert_is_rolled_back(
    calibrations: Calibrations, pool: Pool, slow: Connection
) -> None:
    await slow.execute("INSERT INTO calibrations VALUES ($1, 40.0, 40, now())", MODEL)
    learning = asyncio.create_task(calibrations.learn(MODEL, again))
    await waiting_for_a_lock(pool)
    await slow.execute("ROLLBACK")
    assert await learning == Calibration(1.0, 1)


async def test_an_update_builds_on_a_concurrent_update_of_another_worker(
    calibrations: Calibrations, pool: Pool, slow: Connection
) -> None:
    await calibrations.learn(MODEL, again)
    await slow.execute("UPDATE calibrations SET mean = 7.0, observed = 7")
    learning = asyncio.create_task(calibrations.learn(MODEL, again))
    await waiting_for_a_lock(pool)
    await slow.execute("COMMIT")
    assert await learning == Calibration(8.0, 8)


async def test_an_unchanged_calibration_is_not_written(calibrations: Calibrations, pool: Pool) -> None:
    await calibrations.learn(MODEL, again)
    row = "SELECT ctid::text, updated_at FROM calibrations"
    before = await pool.fetchrow(row)
    assert await calibrations.learn(MODEL, lambda known: known) == Calibration(1.0, 1)
    assert await pool.fetchrow(row) == before
    await calibrations.learn(MODEL, again)
    assert await pool.fetchrow(row) != before


async def test_a_closed_database_pool_is_retryable(dsn: str) -> None:
    calibrations = Calibrations(pool := await connect(dsn))
    await pool.close()
    for call in (calibrations.all(), calibrations.learn(MODEL, again)):
        with pytest.raises(Retryable):
            await call
