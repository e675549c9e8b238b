"""API keys at rest: hashes of their tokens, their rights, and the time of their last use.

A token has 256 random bits, so a plain SHA-256 resists brute force. Slow hashes are for passwords that people choose.
"""

import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final

import asyncpg

from schemas.access.keys import Grant, Key
from schemas.codec import convert
from schemas.conversations.messages import Moment
from schemas.errors import Rejected
from sinks.access.audit import Audit, Audited
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query

TOKEN: Final = re.compile(r"ms_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")  # secret scanners recognise the prefix


class Keys:
    """The table `keys`. Every method raises Retryable when PostgreSQL is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def create(
        self, name: str, grants: tuple[Grant, ...], at: datetime, actor: str, expires_at: datetime | None = None
    ) -> tuple[str, Key]:
        """Creates a key and returns its token and the key. The token is not stored. Raises Rejected `taken` if a valid key
        has this name."""
        token, key_id = new_token()
        key = Key(key_id=key_id, name=name, grants=grants, created_at=at, expires_at=expires_at)
        details = {"name": name, "grants": grants, "expires_at": expires_at}
        try:
            with translated("creating a key"):
                async with self._pool.acquire() as connection, connection.transaction():
                    values = (key_id, name, token_hash(token), grants, at, expires_at)
                    await connection.execute(query("keys", "create"), *values)
                    await Audit(connection).record(audit_entry(at, actor, "key.created", key_id, details))
        except asyncpg.UniqueViolationError as exc:
            raise Rejected(
                "taken", f"there is a key {name!r} already: choose another name, or revoke it first"
            ) from exc
        return token, key

    async def find(self, token: str) -> Key | None:
        """The key of a token, also if it is revoked or expired; None if there is none."""
        parts = TOKEN.fullmatch(token)
        if parts is None:
            return None
        with translated("finding a key"):
            row = await self._pool.fetchrow(query("keys", "find"), parts[1])
        if row is None or not compare_digest(row["hash"], token_hash(token)):
            return None
        return key_of(row)

    async def all(self) -> tuple[Key, ...]:
        """All keys, revoked and expired ones included, oldest first."""
        with translated("listing keys"):
            return tuple(map(key_of, await self._pool.fetch(query("keys", "all"))))

    async def revoke(self, named: str, at: datetime, actor: str) -> Key:
        """Revokes a valid key by its id or name. Raises Rejected `unknown` if there is none."""
        with translated("revoking a key"):
            async with self._pool.acquire() as connection, connection.transaction():
                row = await connection.fetchrow(query("keys", "revoke"), named, at)
                if row is None:
                    raise Rejected("unknown", f"there is no active key {named!r}: `memstream keys list` shows all")
                await Audit(connection).record(
                    audit_entry(at, actor, "key.revoked", row["key_id"], {"name": row["name"]})
                )
        return key_of(row)

    async def record_use(self, at: Mapping[str, datetime]) -> None:
        """Stores when keys were last used, by key id."""
        if at:
            with translated("recording the use of keys"):
                await self._pool.execute(query("keys", "used"), list(at), list(at.values()))


def audit_entry(at: Moment, actor: str, action: str, subject: str, details: dict[str, Any]) -> Audited:
    return Audited(at=at, actor=actor, action=action, subject=subject, details=details)


def new_token() -> tuple[str, str]:
    """A token and the id within it."""
    key_id = secrets.token_hex(6)
    return f"ms_{key_id}_{secrets.token_urlsafe(32)}", key_id


def token_hash(token: str) -> bytes:
    return sha256(token.encode()).digest()


def key_of(row: asyncpg.Record) -> Key:
    return convert({name: value for name, value in row.items() if name != "hash"}, Key)
