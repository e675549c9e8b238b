"""Memories for tests of search."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from schemas.memories.memories import Memory
from tests.builders.memories import a_memory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

MakeMemory = Callable[..., Memory]


@pytest.fixture
def memory() -> MakeMemory:
    def make(text: str = "User has a dog.", **fields: Any) -> Memory:
        return a_memory(text, NOON, **({"memory_id": str(uuid5(NAMESPACE_OID, text))} | fields))

    return make
