"""The audit log: actions of administrators, erasures and exports, with who took them and when. Rows are added and never
changed."""

from typing import Any

from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query


class Audited(Struct, frozen=True, kw_only=True):
    """An action for the audit log. `actor` is a key (id and name) or the user of the command line; `subject` is the object
    of the action, such as a namespace."""

    at: Moment
    actor: str
    action: str
    subject: str
    details: dict[str, Any]


class AuditEntry(Audited, frozen=True, kw_only=True):
    """A stored action with its number."""

    id: int


class Audit:
    """The table `audit`. Every method raises Retryable when PostgreSQL is away."""

    def __init__(self, writer: Pool | Connection) -> None:
        self._writer = writer

    async def record(self, done: Audited) -> None:
        """Stores an entry. Await it before the action, or in the action's transaction: no action goes unrecorded."""
        with translated("writing the audit log"):
            values = (done.at, done.actor, done.action, done.subject, done.details)
            await self._writer.execute(query("audit", "record"), *values)

    async def latest(self, limit: int) -> tuple[Audited, ...]:
        """The latest entries, newest first."""
        with translated("reading the audit log"):
            rows = await self._writer.fetch(query("audit", "latest"), limit)
        return tuple(convert(dict(row), Audited) for row in rows)

    async def page(
        self, limit: int, *, before: int | None = None, action: str | None = None, subject: str | None = None
    ) -> tuple[AuditEntry, ...]:
        """Entries with a number below `before`, newest first; only those of `action` and `subject` where given."""
        with translated("reading the audit log"):
            rows = await self._writer.fetch(query("audit", "page"), limit, before, action, subject)
        return tuple(convert(dict(row), AuditEntry) for row in rows)
