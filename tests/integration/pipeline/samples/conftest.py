"""The samples, published once."""

from typing import Any

import pytest

from tests.deployment import Event
from tests.deployment_data import Snapshot


@pytest.fixture
def once(samples: Any) -> Snapshot:
    return samples.once


@pytest.fixture
def published(samples: Any) -> list[Event]:
    return samples.published
