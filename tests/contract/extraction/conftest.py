"""Parking in memory and on PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from sinks.extraction.parked import Parking
from sinks.postgres.connection import connect
from tests.contract.extraction.parking import AnyParking, now
from tests.fakes.parking import FakeParking


@pytest.fixture(params=["fake", "postgres"])
async def parking(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[AnyParking]:
    """Empty parking."""
    if request.param == "fake":
        yield FakeParking(now)
        return
    pool = await connect(dsn, max_size=4)
    await pool.execute("TRUNCATE parked CASCADE")
    yield Parking(pool)
    await pool.close()
