"""Tokens are compared by their hashes in constant time."""

import hmac
from typing import Any

import pytest

from sinks.access import keys
from sinks.access.keys import Keys, new_token, token_hash


class OneRow:
    """A pool with one key."""

    def __init__(self, token: str, key_id: str) -> None:
        self._row = {"key_id": key_id, "hash": token_hash(token), "name": "ops", "grants": [], "created_at": None}

    async def fetchrow(self, statement: str, key_id: str) -> dict[str, Any] | None:
        return self._row if key_id == self._row["key_id"] else None


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, bytes]]:
    """Records the values compared in constant time; none of them matches."""
    found: list[tuple[bytes, bytes]] = []

    def compare(stored: bytes, given: bytes) -> bool:
        found.append((stored, given))
        return hmac.compare_digest(stored, given) and False

    monkeypatch.setattr(keys, "compare_digest", compare)
    return found


@pytest.mark.parametrize("right", [True, False])
async def test_token_hashes_are_compared_in_constant_time_over_full_length_digests(
    right: bool, compared: list[tuple[bytes, bytes]]
):
    token, key_id = new_token()
    given = token if right else token[:-1] + ("A" if token[-1] != "A" else "B")
    assert await Keys(OneRow(token, key_id)).find(given) is None  # type: ignore[arg-type]
    assert compared == [(token_hash(token), token_hash(given))]
    assert {len(each) for pair in compared for each in pair} == {32}
