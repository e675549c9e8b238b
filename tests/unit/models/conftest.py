"""Slices and contexts for the LLM stage's tests."""

from collections.abc import AsyncIterator

import pytest

from tests.servers.messages import MessagesServer


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    async with MessagesServer() as started:
        yield started
