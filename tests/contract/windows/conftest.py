"""Projected windows, in memory and on PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from sinks.postgres.connection import connect
from sinks.windows.projection import Windows
from tests.contract.windows.either import AnyWindows
from tests.fakes.windows import FakeWindows


@pytest.fixture(params=["fake", "postgres"])
async def windows(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[AnyWindows]:
    if request.param == "fake":
        yield FakeWindows()
        return
    pool = await connect(dsn, max_size=4)
    yield Windows(pool)
    await pool.close()
