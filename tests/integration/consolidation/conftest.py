"""Schedulers and conversations on the test's database."""

import pytest

from sinks.postgres.connection import Pool
from tests.integration.consolidation.scheduled_runs import ScheduledRuns


@pytest.fixture
def scheduled(pool: Pool) -> ScheduledRuns:
    return ScheduledRuns(pool)
