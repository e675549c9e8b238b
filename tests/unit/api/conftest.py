"""The API over fakes."""

import pytest

from tests.api import Api
from tests.workshop import Workshop, furnished


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def workshop() -> Workshop:
    return furnished()
