"""Authenticates requests by bearer keys, compared in constant time, and limits the rate of each key."""

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

BEARER = HTTPBearer(auto_error=False, scheme_name="key", description="A key made by `memstream keys create`.")
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="memstream"'}


async def authenticate(
    request: Request, ports: PortsOf, sent: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]
) -> Caller:
    """The caller of a request. Raises Problem 401 without a valid key, 429 above the rate limit, and Retryable."""
    caller = await ports.authentication.authenticate(sent.credentials if sent else None)
    if caller is None:
        raise Problem(401, "unauthorized", "send a valid key: `Authorization: Bearer KEY`", CHALLENGE)
    request.state.caller = caller
    if (wait_s := ports.rate_limiter.wait_s(caller.key_id)) > 0:
        raise too_many_requests(wait_s)
    return caller


CallerOf = Annotated[Caller, Depends(authenticate)]


def too_many_requests(wait_s: float) -> Problem:
    return Problem(
        429, "too-many-requests", f"this key may ask again in {wait_s:.1f} s", {"Retry-After": str(int(wait_s) + 1)}
    )


class NoAuthentication:
    """Grants everything to everybody: for a server on loopback."""

    async def authenticate(self, token: str | None) -> Caller:
        return LOCAL


class KeyStore(Protocol):
    """Stores keys."""

    async def find(self, token: str) -> Key | None:
        """The key of a token, also a revoked or expired one. Raises Retryable."""


class KeyAuthentication:
    """Admits bearers of stored keys. A key is looked up again once it has been known for `known_s`: so long a revoked one may
    still be let in by a process that knew it. What is no key is looked up again after `unknown_s`: so long one may be refused
    that was made just after: by `seconds`, as nobody sets them back. Of each kind `most_known` are remembered."""

    def __init__(
        self,
        keys: KeyStore,
        clock: Callable[[], datetime],
        seconds: Callable[[], float],
        *,
        known_s: float = 5.0,
        unknown_s: float = 1.0,
        most_known: int = 10_000,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._seconds = seconds
        self._known_s = known_s
        self._unknown_s = unknown_s
        self._most_known = most_known
        self._known: dict[bytes, tuple[Key, float]] = {}
        self._unknown: dict[bytes, float] = {}  # apart, as whoever makes tokens up must not drive known keys out
        self._used: dict[str, datetime] = {}

    async def authenticate(self, token: str | None) -> Caller | None:
        """None without a valid key. Raises Retryable."""
        if token is None:
            return None
        now = self._clock()
        key = await self._key(token, self._seconds())
        if key is None or not key.is_valid(now):
            return None
        self._used[key.key_id] = now
        return Caller(key.key_id, key.name, key.grants)

    async def _key(self, token: str, now_s: float) -> Key | None:
        fingerprint = sha256(token.encode()).digest()  # the token itself is not kept
        known = self._known.get(fingerprint)
        if known is not None and now_s - known[1] < self._known_s:
            return known[0]
        missed = self._unknown.get(fingerprint)
        if missed is not None and now_s - missed < self._unknown_s:
            return None
        key = await self._keys.find(token)
        if key is None:
            self._known.pop(fingerprint, None)
            self._make_room(self._unknown)
            self._unknown[fingerprint] = now_s
        else:
            self._unknown.pop(fingerprint, None)
            self._make_room(self._known)
            self._known[fingerprint] = (key, now_s)
        return key

    def _make_room(self, remembered: dict[bytes, Any]) -> None:
        if len(remembered) >= self._most_known:
            remembered.clear()

    def take_last_used(self) -> dict[str, datetime]:
        """When each key was last used since the previous call."""
        used, self._used = self._used, {}
        return used
