"""The API over fakes."""

import pytest

from tests.api import Api


@pytest.fixture
def api() -> Api:
    return Api()
