"""Memories, filters, and the memories that each filter accepts, for every implementation of filters (the rule, Qdrant,
PostgreSQL)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from schemas.memories.memories import Memory
from schemas.retrieval.searches import Filters

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def a_memory(name: str, **fields: Any) -> Memory:
    defaults: dict[str, Any] = {
        "memory_id": str(uuid5(NAMESPACE_OID, name)),
        "namespace": "n",
        "kind": "fact",
        "text": f"User said something about {name}.",
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


FILTERED = {
    "plain": a_memory("plain"),
    "plan": a_memory("plan", kind="plan", kinds=("event",), tags=("Travel", "café"), pinned=True),
    "swiss": a_memory("swiss", language="de-CH", confidence=0.4, tags=("work",)),
    "french": a_memory("french", language="fr", importance=0.95),
    "minor": a_memory("minor", importance=0.05, created_at=NOON - 10 * DAY),
    "trip": a_memory("trip", event_time=NOON + 30 * DAY, valid_from=NOON - DAY, created_at=NOON + DAY),
    "former": a_memory("former", status="superseded", valid_from=NOON - 20 * DAY, valid_until=NOON - 5 * DAY),
    "lapsed": a_memory("lapsed", status="expired", valid_until=NOON + DAY),
    "gone": a_memory("gone", status="deleted", text=""),
}
LIVE = {"plain", "plan", "swiss", "french", "minor", "trip"}

CASES: tuple[tuple[Filters, set[str]], ...] = (
    (Filters(), LIVE),
    (Filters(kinds=("plan",)), {"plan"}),
    (Filters(kinds=("event", "insight")), {"plan"}),
    (Filters(kinds=("fact",), tags=("work", "Travel")), {"swiss"}),
    (Filters(tags=("work", "Travel")), {"swiss", "plan"}),
    (Filters(tags=("café",)), {"plan"}),
    (Filters(tags=("travel",)), set()),
    (Filters(languages=("de",)), {"swiss"}),
    (Filters(languages=("de-CH", "fr")), {"swiss", "french"}),
    (Filters(languages=("de-AT",)), set()),
    (Filters(min_confidence=0.5), LIVE - {"swiss"}),
    (Filters(min_importance=0.95), {"french"}),
    (Filters(min_importance=9.5, scale="tenths"), {"french"}),
    (Filters(min_importance=5_001, scale="points"), {"french"}),
    (Filters(max_importance=10, scale="points"), {"minor"}),
    (Filters(max_importance=0.5, min_importance=0.1), LIVE - {"minor", "french"}),
    (Filters(max_importance=99), LIVE),
    (Filters(created_from=NOON), LIVE - {"minor"}),
    (Filters(created_to=NOON), {"minor"}),
    (Filters(created_from=NOON, created_to=NOON + DAY), LIVE - {"minor", "trip"}),
    (Filters(happened_from=NOON + 2 * DAY), {"trip"}),
    (Filters(happened_to=NOON - DAY), {"minor"}),
    (Filters(valid_at=NOON - 10 * DAY), (LIVE | {"former", "lapsed"}) - {"trip"}),
    (Filters(valid_at=NOON - 5 * DAY), (LIVE | {"lapsed"}) - {"trip"}),
    (Filters(valid_at=NOON + 2 * DAY), LIVE),
    (Filters(pinned=True), {"plan"}),
    (Filters(pinned=False), LIVE - {"plan"}),
)


def ids(names: set[str]) -> set[str]:
    return {FILTERED[name].memory_id for name in names}
