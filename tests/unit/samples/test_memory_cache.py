"""The sample cache is correct after any record, also repeated ones."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from deploy.samples.memory_cache import MemoryCache, status

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def state(version: int, **fields: Any) -> bytes:
    defaults = {"namespace": "n", "status": "active", "importance": 0.5, "text": f"text {version}"}
    return json.dumps(defaults | {"version": version} | fields).encode()


def test_the_latest_version_is_cached_including_unknown_fields() -> None:
    cache = MemoryCache()
    assert cache.apply("a", state(1))
    assert cache.apply("a", state(2, colour="red"))
    assert (cache.memories["a"]["text"], cache.memories["a"]["colour"]) == ("text 2", "red")


def test_a_tombstone_removes_a_memory_and_is_ignored_for_an_unknown_one() -> None:
    cache = MemoryCache()
    cache.apply("a", state(1))
    assert cache.apply("a", None)
    assert not cache.apply("b", None)
    assert cache.memories == {}


def test_redelivered_versions_change_nothing() -> None:
    cache = MemoryCache()
    kept = [("a", state(1)), ("b", state(1)), ("a", state(2))]
    assert [cache.apply(*record) for record in kept] == [True] * len(kept)
    assert [cache.apply(*record) for record in kept * 2] == [False] * 2 * len(kept)
    assert cache.memories["a"]["version"] == 2


def tombstone(version: int) -> list[tuple[str, bytes]]:
    return [("memstream-namespace", b"n"), ("memstream-version", b"%d" % version), ("memstream-sequence", b"9")]


def test_a_version_redelivered_after_its_tombstone_is_ignored() -> None:
    cache = MemoryCache()
    assert cache.apply("a", state(1)) and cache.apply("a", state(2))
    assert cache.apply("a", None, tombstone(3))
    assert [cache.apply("a", state(version)) for version in (1, 2, 3)] == [False] * 3
    assert cache.memories == {}
    assert cache.apply("a", state(4)), "it was brought back by an undo"
    assert not cache.apply("a", None, tombstone(3))
    assert cache.memories["a"]["version"] == 4


def test_a_tombstone_read_first_blocks_older_versions() -> None:
    cache = MemoryCache()
    assert not cache.apply("a", None, tombstone(3))
    assert not cache.apply("a", state(2))
    assert cache.memories == {}


@pytest.mark.parametrize("headers", [[], tombstone(2)])
@pytest.mark.parametrize("again", range(5))
def test_redelivery_from_any_offset_leaves_the_cache_unchanged(again: int, headers: list[Any]) -> None:
    """Deleted for good, and deleted and brought back by an undo: repeats begin anywhere."""
    kept = [("gone", state(1)), ("back", state(1)), ("gone", None), ("back", None), ("back", state(3))]
    cache = MemoryCache()
    for memory_id, value in [*kept, *kept[again:]]:
        cache.apply(memory_id, value, () if value else headers)
    assert {memory_id: memory["version"] for memory_id, memory in cache.memories.items()} == {"back": 3}


def test_only_active_unexpired_memories_are_live_and_ordered_by_importance() -> None:
    cache = MemoryCache()
    cache.apply("little", state(1, importance=0.1))
    cache.apply("much", state(1, importance=0.9, expires_at=(NOON + timedelta(seconds=1)).isoformat()))
    cache.apply("old", state(2, status="superseded", superseded_by="little"))
    cache.apply("over", state(1, expires_at="2026-03-01T12:00:00Z"))
    cache.apply("elsewhere", state(1, namespace="m"))
    cache.apply("odd", state(1, status="a word of later versions"))
    assert [memory["importance"] for memory in cache.live("n", NOON)] == [0.9, 0.1]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, "active"),
        ({"expires_at": "2026-03-01T12:00:01Z"}, "active"),
        ({"expires_at": "2026-03-01T11:59:59Z"}, "expired"),
        ({"status": "superseded", "expires_at": "2026-03-01T11:59:59Z"}, "superseded"),
        ({"status": "expired"}, "expired"),
    ],
)
def test_a_memory_counts_as_expired_after_its_expiry_time_even_without_an_event(
    said: dict[str, str], expected: str
) -> None:
    assert status({"status": "active"} | said, NOON) == expected
