"""A night."""

import pytest

from sinks.postgres.connection import Pool
from tests.integration.consolidation.night import Night


@pytest.fixture
def night(pool: Pool) -> Night:
    return Night(pool)
