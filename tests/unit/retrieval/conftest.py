"""Memories for tests of search."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from schemas.memories import Memory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

MakeMemory = Callable[..., Memory]


@pytest.fixture
def memory() -> MakeMemory:
    def make(text: str = "User has a dog.", **fields: Any) -> Memory:
        defaults: dict[str, Any] = {
            "memory_id": str(uuid5(NAMESPACE_OID, text)),
            "namespace": "n",
            "kind": "fact",
            "text": text,
            "importance": 0.5,
            "confidence": 0.9,
            "version": 1,
            "sequence": 1,
            "status": "active",
            "created_at": NOON,
            "updated_at": NOON,
            "created_by": "test",
        }
        return Memory(**(defaults | fields))

    return make
