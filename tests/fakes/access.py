"""API keys and the audit log in memory."""

from datetime import UTC, datetime

from msgspec import to_builtins
from msgspec.structs import replace

from schemas.access.keys import Grant, Key
from schemas.errors import Rejected, Retryable
from sinks.access.audit import Audited, AuditEntry

CREATED = datetime(2026, 3, 2, 12, tzinfo=UTC)


class FakeKeys:
    """Keys by token."""

    def __init__(self) -> None:
        self.by_token: dict[str, Key] = {}
        self.calls = 0

    def add(self, **patterns: str) -> str:
        """Creates a token with the rights to `read`, `write` or `admin` matching namespaces."""
        number = len(self.by_token) + 1
        grants = tuple(Grant(right, pattern) for right, pattern in patterns.items())  # type: ignore[arg-type]
        self.by_token[token := f"EXAMPLE-{number}"] = Key(
            key_id=f"key{number}", name=f"key {number}", grants=grants, created_at=CREATED
        )
        return token

    async def find(self, token: str) -> Key | None:
        self.calls += 1
        return self.by_token.get(token)

    async def all(self) -> tuple[Key, ...]:
        return tuple(self.by_token.values())

    async def create(
        self, name: str, grants: tuple[Grant, ...], at: datetime, actor: str, expires_at: datetime | None = None
    ) -> tuple[str, Key]:
        if any(key.name == name and key.revoked_at is None for key in self.by_token.values()):
            raise Rejected("taken", f"there is a key {name!r} already: choose another name, or revoke it first")
        token = f"EXAMPLE-{len(self.by_token) + 1}"
        made = Key(
            key_id=f"key{len(self.by_token) + 1}", name=name, grants=grants, created_at=at, expires_at=expires_at
        )
        self.by_token[token] = made
        return token, made

    async def revoke(self, named: str, at: datetime, actor: str) -> Key:
        for token, key in self.by_token.items():
            if named in (key.key_id, key.name) and key.revoked_at is None:
                self.by_token[token] = replace(key, revoked_at=at)
                return self.by_token[token]
        raise Rejected("unknown", f"no key {named!r} holds")


class FakeAudit:
    """The recorded entries; `down` raises Retryable."""

    def __init__(self) -> None:
        self.rows: list[Audited] = []
        self.down = False

    async def record(self, done: Audited) -> None:
        if self.down:
            raise Retryable("PostgreSQL failed while writing the audit log: it is down")
        self.rows.append(done)

    async def page(
        self, limit: int, *, before: int | None = None, action: str | None = None, subject: str | None = None
    ) -> tuple[AuditEntry, ...]:
        entries = [
            AuditEntry(
                id=number,
                at=row.at,
                actor=row.actor,
                action=row.action,
                subject=row.subject,
                details=to_builtins(row.details),
            )
            for number, row in enumerate(self.rows, 1)
        ]
        found = [
            each
            for each in reversed(entries)
            if (before is None or each.id < before)
            and action in (None, each.action)
            and subject in (None, each.subject)
        ]
        return tuple(found[:limit])
