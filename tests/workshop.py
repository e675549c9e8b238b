"""Agent tools over memories in a dictionary."""

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from agents.api.tools import Reach, Tools
from agents.retrieval.search import Retrieval
from schemas.memories import Memory
from sinks.embeddings.fake import FakeEmbedder
from sinks.fakes import FakeVectors
from tests.fakes.commands import FakeCommands
from tests.fakes.remembered import FakeRemembered

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINE, SHARED, THEIRS = "kitchen/ada", "kitchen", "kitchen/tom"


class Workshop(Struct):
    """The tools of a wiring and what they reach."""

    remembered: FakeRemembered
    commands: FakeCommands
    retrieval: Retrieval

    def tools(self, *namespaces: str, **reach: Any) -> Tools:
        wired = Reach(namespaces=namespaces or (MINE,), **reach)
        return Tools(wired, self.retrieval, self.remembered, self.commands, lambda: NOON)


def memory(text: str, namespace: str = MINE, **fields: Any) -> Memory:
    defaults: dict[str, Any] = {
        "memory_id": f"id of {text}",
        "namespace": namespace,
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


def furnished() -> Workshop:
    """With four memories in three namespaces."""
    remembered = FakeRemembered(
        memory("User is allergic to peanuts.", importance=0.9, tags=("food",), full_text="User carries an injector."),
        memory("User prefers short recipes.", kind="preference"),
        memory("The kitchen has no oven.", SHARED),
        memory("Tom is allergic to milk.", THEIRS),
    )
    retrieval = Retrieval(FakeEmbedder(), FakeVectors(), remembered, remembered, clock=lambda: NOON)
    return Workshop(remembered, FakeCommands(remembered), retrieval)
