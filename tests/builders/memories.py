"""Builds a memory with defaults for everything that a test does not set."""

from datetime import UTC, datetime
from typing import Any

from schemas.memories.memories import Memory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def a_memory(text: str = "User has a dog.", at: datetime = NOON, **fields: Any) -> Memory:
    """A live fact of namespace `n` in its first version, created at `at`; `fields` override."""
    defaults: dict[str, Any] = {
        "memory_id": f"id of {text}",
        "namespace": "n",
        "kind": "fact",
        "text": text,
        "importance": 0.5,
        "confidence": 0.9,
        "version": 1,
        "sequence": 1,
        "status": "active",
        "created_at": at,
        "updated_at": at,
        "created_by": "test",
    }
    return Memory(**(defaults | fields))
