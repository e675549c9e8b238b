"""Retention of the short-term tier: sweeps, and their steps. A step takes few rows and waits for no lock."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from schemas.codec import convert
from schemas.consolidation.retention import RetentionStatistics, Sweep
from schemas.conversations.messages import Scope
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

SweepPlace: TypeAlias = tuple[datetime, str]  # time of creation and id: the sort key of sweeps

CONVERSATIONS: Final = 200  # per step
ROWS: Final = 1_000  # deleted per step


class Place(NamedTuple):
    """The position of a sweep: the window that it reached last."""

    conversation_id: str
    partition: int


BEGINNING: Final = Place("", -1)


class GovernedWindow(NamedTuple):
    """A window with its policy. `extracts` says whether the policy extracts, `days` how long it keeps messages (0: for
    ever)."""

    scope: Scope
    partition: int
    policy: str
    days: int
    extracts: bool


class Sweeps:
    """The table `retention_sweeps`. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, sweep: Sweep) -> None:
        """Stores a sweep for a worker to run. A known id changes nothing."""
        columns = (sweep.sweep_id, sweep.trigger, sweep.dry_run, sweep.asked_by, sweep.created_at)
        with translated("storing a sweep"):
            await self._pool.execute(query("retention", "ask"), *columns)

    async def of(self, sweep_id: str) -> Sweep | None:
        """The sweep with its current progress; None for an unknown id."""
        with translated("reading a sweep"):
            row = await self._pool.fetchrow(query("retention", "of"), sweep_id)
        return sweep_of(row) if row else None

    async def page(self, limit: int, behind: SweepPlace | None = None) -> tuple[Sweep, ...]:
        """A page of sweeps behind a place, newest first."""
        with translated("listing sweeps"):
            rows = await self._pool.fetch(query("retention", "page"), *(behind or (None, None)), limit)
        return tuple(map(sweep_of, rows))

    async def forget(self, before: datetime) -> None:
        """Deletes sweeps that ended before that moment."""
        with translated("forgetting sweeps"):
            await self._pool.execute(query("retention", "forget"), before)

    async def drop_wishes(self, before: datetime) -> None:
        """Deletes wishes to forget that were said before that moment."""
        with translated("deleting old wishes"):
            await self._pool.execute(query("forgotten", "drop_old"), before)

    @asynccontextmanager
    async def step(self, now: datetime) -> AsyncIterator["Step | None"]:
        """Opens the next step of an unfinished sweep, in its own transaction; None if there is none or other workers hold
        it. Leaving the block without an error commits. Manual sweeps come first for an hour."""
        with translated("sweeping the archive"):
            async with self._pool.acquire() as connection, connection.transaction():
                row = await connection.fetchrow(query("retention", "claim"), now)
                yield Step(connection, row) if row else None


class Step:
    """One step of a sweep, in a transaction that holds the row of the sweep."""

    def __init__(self, connection: Connection, row: Any) -> None:
        self._connection = connection
        self.sweep = sweep_of(row)
        self.place = BEGINNING if row["conversation_id"] is None else Place(row["conversation_id"], row["partition"])

    async def windows(self, limit: int = CONVERSATIONS) -> list[tuple[Scope, int]]:
        """The next windows behind the sweep's place: scope and partition of each."""
        rows = [dict(row) for row in await self._connection.fetch(query("retention", "windows"), *self.place, limit)]
        partitions = [row.pop("partition") for row in rows]
        return [(convert(row, Scope), partition) for row, partition in zip(rows, partitions, strict=True)]

    async def prune(
        self, windows: Sequence[GovernedWindow], now: datetime, limit: int = ROWS
    ) -> list[RetentionStatistics]:
        """Deletes expired messages of these windows, at most `limit`, and returns their numbers by policy. A dry run counts
        them all and deletes nothing."""
        names, partitions, policies, days = columns(windows)
        extracts = [window.extracts for window in windows]
        values = (names, partitions, policies, days, extracts, now, limit, self.sweep.dry_run)
        rows = await self._connection.fetch(query("retention", "prune"), *values)
        kept_for = {window.policy: window.days for window in windows}
        return [RetentionStatistics(days=kept_for[row["policy"]], **row) for row in rows]

    async def keep(self, windows: Sequence[GovernedWindow], now: datetime) -> list[RetentionStatistics]:
        """What the archive holds of these windows, by policy; `held` counts all messages past their retention."""
        rows = [dict(row) for row in await self._connection.fetch(query("retention", "keep"), *columns(windows), now)]
        kept_for = {window.policy: window.days for window in windows}
        return [RetentionStatistics(days=kept_for[row["policy"]], held=row.pop("old"), **row) for row in rows]

    async def drop_usage(self, before: datetime, limit: int = ROWS) -> int:
        """Deletes published records of model calls, or counts them in a dry run; returns the number."""
        return await self._drop("usage", before, limit)

    async def drop_prunings(self, before: datetime, limit: int = ROWS) -> int:
        """Deletes records of prunings, or counts them in a dry run; returns the number."""
        return await self._drop("prunings", before, limit)

    async def _drop(self, what: str, before: datetime, limit: int) -> int:
        if self.sweep.dry_run:
            return int(await self._connection.fetchval(query("retention", f"count_{what}"), before))
        status = await self._connection.execute(query("retention", f"drop_{what}"), before, limit)
        return int(status.rpartition(" ")[2])

    async def advance(
        self, place: Place, policies: Sequence[RetentionStatistics], usage: int = 0, prunings: int = 0
    ) -> None:
        """Stores the sweep's next place and its counts by policy."""
        values = (self.sweep.sweep_id, *place, list(policies), usage, prunings)
        await self._connection.execute(query("retention", "advance"), *values)

    async def finish(self, at: datetime) -> None:
        await self._connection.execute(query("retention", "finish"), self.sweep.sweep_id, at)


def columns(windows: Sequence[GovernedWindow]) -> tuple[list[str], list[int], list[str], list[int]]:
    """The columns of a statement: conversations, partitions, policies and days."""
    return (
        [storable(window.scope.conversation_id) for window in windows],
        [window.partition for window in windows],
        [storable(window.policy) for window in windows],
        [window.days for window in windows],
    )


def sweep_of(row: Any) -> Sweep:
    return convert(dict(row), Sweep)
