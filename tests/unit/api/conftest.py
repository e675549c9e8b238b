"""The API over fakes."""

import pytest

from tests.api import Api
from tests.fakes.toolset import Toolset, populated_toolset
from tests.unit.api.talks import ADA, known


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def toolset() -> Toolset:
    return populated_toolset()


@pytest.fixture
async def talk(api: Api) -> Api:
    """Ada's conversation of six messages, two of which left its context."""
    api.archive.say("talk", *[(role, f"Message of {role}.") for _ in range(3) for role in ("user", "assistant")], **ADA)
    await api.windows.project([known()])
    return api
