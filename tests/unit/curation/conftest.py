"""Runs asynchronous tests in virtual time: timers fire without waiting."""

import pytest

from tests.fakes.clock import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories
from tests.unit.curation.curation_stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()
