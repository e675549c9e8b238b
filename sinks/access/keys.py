"""Keys of the API at rest: hashes of their tokens, their rights, and when they were last used.

A token has 256 random bits, so its SHA-256 is enough: nobody can try them all, however fast the hash. Slow hashes are for what
people choose.
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

TOKEN: Final = re.compile(r"ms_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")  # the prefix lets scanners of secrets find it


class Keys:
    """The table `keys`. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def create(
        self, name: str, grants: tuple[Grant, ...], at: datetime, actor: str, expires_at: datetime | None = None
    ) -> tuple[str, Key]:
        """The token, which is nowhere but here, and the key. Raises Rejected `taken` for the name of a key that holds."""
        token, key_id = new_token()
        key = Key(key_id=key_id, name=name, grants=grants, created_at=at, expires_at=expires_at)
        details = {"name": name, "grants": grants, "expires_at": expires_at}
        try:
            with translated("making a key"):
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
        """The key that the token is of; revoked and expired ones too."""
        parts = TOKEN.fullmatch(token)
        if parts is None:
            return None
        with translated("looking for a key"):
            row = await self._pool.fetchrow(query("keys", "find"), parts[1])
        if row is None or not compare_digest(row["hash"], token_hash(token)):
            return None
        return key_of(row)

    async def all(self) -> tuple[Key, ...]:
        """Every key, revoked and expired ones too, oldest first."""
        with translated("listing keys"):
            return tuple(map(key_of, await self._pool.fetch(query("keys", "all"))))

    async def revoke(self, named: str, at: datetime, actor: str) -> Key:
        """Revokes a key by its id or name. Raises Rejected `unknown` when none of that name or id holds."""
        with translated("revoking a key"):
            async with self._pool.acquire() as connection, connection.transaction():
                row = await connection.fetchrow(query("keys", "revoke"), named, at)
                if row is None:
                    raise Rejected("unknown", f"no key {named!r} holds: `memstream keys list` shows all")
                await Audit(connection).record(
                    audit_entry(at, actor, "key.revoked", row["key_id"], {"name": row["name"]})
                )
        return key_of(row)

    async def record_use(self, at: Mapping[str, datetime]) -> None:
        """Records when keys were last used, by their ids."""
        if at:
            with translated("noting the use of keys"):
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
