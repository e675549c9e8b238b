"""The audit: who did what only an administrator may do, and when. Rows are added and never changed."""

from typing import Any

from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query


class Audited(Struct, frozen=True, kw_only=True):
    """`actor` is a key by id and name, or whoever was at the command line; `subject` what was acted on, such as a namespace."""

    at: Moment
    actor: str
    action: str
    subject: str
    details: dict[str, Any]


class AuditEntry(Audited, frozen=True, kw_only=True):
    """One that is stored, with its number."""

    id: int


class Audit:
    """The table `audit`. Every method raises Retryable."""

    def __init__(self, writer: Pool | Connection) -> None:
        self._writer = writer

    async def record(self, done: Audited) -> None:
        """To be awaited before what it tells of, or in its transaction: nothing is done that is not told."""
        with translated("writing the audit"):
            values = (done.at, done.actor, done.action, done.subject, done.details)
            await self._writer.execute(query("audit", "record"), *values)

    async def latest(self, limit: int) -> tuple[Audited, ...]:
        """The latest first."""
        with translated("reading the audit"):
            rows = await self._writer.fetch(query("audit", "latest"), limit)
        return tuple(convert(dict(row), Audited) for row in rows)

    async def page(
        self, limit: int, *, before: int | None = None, action: str | None = None, subject: str | None = None
    ) -> tuple[AuditEntry, ...]:
        """The latest first, `before` a number; of one action, and of one subject, where these are said."""
        with translated("reading the audit"):
            rows = await self._writer.fetch(query("audit", "page"), limit, before, action, subject)
        return tuple(convert(dict(row), AuditEntry) for row in rows)
