"""Authenticates requests by bearer key and applies the rate limit of each key."""

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from agents.api.access.callers import LOCAL, Caller
from agents.api.http.problems import Problem
from agents.api.ports import PortsOf
from schemas.access.keys import Key

BEARER = HTTPBearer(auto_error=False, scheme_name="key", description="An API key created by `memstream keys create`.")
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="memstream"'}


async def authenticate(
    request: Request, ports: PortsOf, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]
) -> Caller:
    """Returns the caller of a request. Raises Problem 401 without a valid key, Problem 429 above the rate limit, and
    Retryable."""
    caller = await ports.authentication.authenticate(credentials.credentials if credentials else None)
    if caller is None:
        raise Problem(401, "unauthorized", "send a valid key: `Authorization: Bearer KEY`", CHALLENGE)
    request.state.caller = caller
    if (wait_s := ports.rate_limiter.wait_s(caller.key_id)) > 0:
        raise too_many_requests(wait_s)
    return caller


CallerOf = Annotated[Caller, Depends(authenticate)]


def too_many_requests(wait_s: float) -> Problem:
    retry_after_s = int(wait_s) + 1
    return Problem(
        429,
        "too-many-requests",
        f"rate limit exceeded: retry in {retry_after_s} s",
        {"Retry-After": str(retry_after_s)},
    )


class NoAuthentication:
    """Grants every right to every caller. Only for servers that listen on loopback."""

    async def authenticate(self, token: str | None) -> Caller:
        return LOCAL


class KeyStore(Protocol):
    """The store of API keys (sinks.access.keys.Keys)."""

    async def find(self, token: str) -> Key | None:
        """Returns the key of a token, including revoked and expired keys; None for an unknown token. Raises Retryable."""


class KeyAuthentication:
    """Authenticates stored keys and caches the lookups.

    A valid key is looked up again after `key_ttl_s` seconds, so a process may accept a revoked key for that long. An unknown
    token is looked up again after `unknown_ttl_s` seconds, so a process may reject a new key for that long. `seconds` is a
    monotonic clock. Each of the two caches holds at most `max_entries` entries.
    """

    def __init__(
        self,
        keys: KeyStore,
        clock: Callable[[], datetime],
        seconds: Callable[[], float],
        *,
        key_ttl_s: float = 5.0,
        unknown_ttl_s: float = 1.0,
        max_entries: int = 10_000,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._seconds = seconds
        self._key_ttl_s = key_ttl_s
        self._unknown_ttl_s = unknown_ttl_s
        self._max_entries = max_entries
        self._keys_by_hash: dict[bytes, tuple[Key, float]] = {}
        self._unknown_hashes: dict[bytes, float] = {}  # separate, so that invented tokens cannot evict valid keys
        self._last_used: dict[str, datetime] = {}

    async def authenticate(self, token: str | None) -> Caller | None:
        """Returns the caller of a token; None if there is no valid key. Raises Retryable."""
        if token is None:
            return None
        now = self._clock()
        key = await self._key(token, self._seconds())
        if key is None or not key.is_valid(now):
            return None
        self._last_used[key.key_id] = now
        return Caller(key.key_id, key.name, key.grants)

    async def _key(self, token: str, now_s: float) -> Key | None:
        token_hash = sha256(token.encode()).digest()  # the token itself is not stored
        cached = self._keys_by_hash.get(token_hash)
        if cached is not None and now_s - cached[1] < self._key_ttl_s:
            return cached[0]
        missed_at_s = self._unknown_hashes.get(token_hash)
        if missed_at_s is not None and now_s - missed_at_s < self._unknown_ttl_s:
            return None
        key = await self._keys.find(token)
        if key is None:
            self._keys_by_hash.pop(token_hash, None)
            self._make_room(self._unknown_hashes)
            self._unknown_hashes[token_hash] = now_s
        else:
            self._unknown_hashes.pop(token_hash, None)
            self._make_room(self._keys_by_hash)
            self._keys_by_hash[token_hash] = (key, now_s)
        return key

    def _make_room(self, cache: dict[bytes, Any]) -> None:
        if len(cache) >= self._max_entries:
            cache.clear()

    def take_last_used(self) -> dict[str, datetime]:
        """Returns the time of last use per key id, and clears it: each call covers the time since the previous call."""
        last_used, self._last_used = self._last_used, {}
        return last_used
