"""Candidates, batches and memories for decisions."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from schemas.extraction.candidates import Candidate, CandidateBatch, Source
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from tests.builders.memories import NOON, a_memory
from tests.builders.slices import batch_for_rules

MakeSource = Callable[..., Source]
MakeCandidate = Callable[..., Candidate]
MakeMemory = Callable[..., Memory]
MakeBatch = Callable[..., CandidateBatch]
MakeCommand = Callable[..., Command]


def source_at(minutes: float, message_id: str | None = None) -> Source:
    said = NOON + timedelta(minutes=minutes)
    return Source(conversation_id="c", message_id=message_id or f"m{minutes:g}", timestamp=said)


@pytest.fixture
def now() -> datetime:
    return NOON + timedelta(days=1)


@pytest.fixture
def source() -> MakeSource:
    """A message this number of minutes after noon."""
    return source_at


@pytest.fixture
def candidate() -> MakeCandidate:
    def make(text: str, *, at: float = 10, **fields: Any) -> Candidate:
        defaults: dict[str, Any] = {
            "candidate_id": f"candidate {text}",
            "kind": "fact",
            "confidence": 0.8,
            "sources": (source_at(at),),
        }
        return Candidate(text=text, **(defaults | fields))

    return make


@pytest.fixture
def memory() -> MakeMemory:
    def make(text: str, *, at: float = 0, **fields: Any) -> Memory:
        defaults: dict[str, Any] = {
            "memory_id": f"memory {text}",
            "confidence": 0.8,
            "created_by": "offline",
            "valid_from": NOON + timedelta(minutes=at),
            "sources": (source_at(at),),
        }
        return a_memory(text, NOON, **(defaults | fields))

    return make


@pytest.fixture
def batch() -> MakeBatch:
    return batch_for_rules


@pytest.fixture
def command() -> MakeCommand:
    def make(kind: Any, **fields: Any) -> Command:
        return Command(**({"command_id": "x", "namespace": "n", "at": NOON} | fields), kind=kind)

    return make
