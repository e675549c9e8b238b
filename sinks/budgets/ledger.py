"""The budget ledger: amounts spent, and amounts reserved by running calls, for all workers together."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from schemas.budgets.budgets import Amount, Level
from schemas.budgets.usage import Consumed
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

# Given the levels of the scopes: None if the call may begin, or the time to try again.
Decide: TypeAlias = Callable[[Mapping[str, Level], datetime], datetime | None]


class Ledger:
    """The tables `energy`, `energy_reservations` and `model_usage` (energy: what model calls cost, in tokens and money). A
    scope is a namespace, or `overall`.

    `clock` is for tests; by default the clock of the database counts.
    """

    def __init__(self, pool: Pool, clock: Callable[[], datetime] | None = None) -> None:
        self._pool = pool
        self._clock = clock

    async def reserve(
        self, reservation_id: str, amounts: Mapping[str, Amount], lasts_s: float, decide: Decide
    ) -> datetime | None:
        """Reserves an amount in each scope for at most `lasts_s` if `decide` returns None; otherwise reserves nothing and
        returns the moment that `decide` returned.

        Other reservations in these scopes wait meanwhile, so `decide` must be pure and quick. Raises Retryable.
        """
        names = scopes(amounts)
        with translated("reserving a budget"):
            async with self._pool.acquire() as connection, connection.transaction():
                now = await self._now(connection)
                known = await locked(connection, names, now)
                await connection.execute(query("energy", "expire"), names, now)
                reserved = await connection.fetch(query("energy", "reserved"), names, now)
                later = decide(levels(names, known, reserved), now)
                if later is None:
                    parts = columns(names, amounts)
                    await connection.execute(query("energy", "reserve"), names, reservation_id, *parts, now, lasts_s)
                return later

    async def settle(
        self,
        reservation_id: str,
        consumed: Sequence[Consumed],
        spent: Mapping[str, Amount],
        limited: Collection[str] | None = None,
    ) -> None:
        """Ends a reservation and books the actual cost in the current hour. A record that is booked already is not booked
        again.

        `spent` is booked in the scopes of the reservation and in those of `limited` (default: all), as policies may have
        changed since. Raises Retryable: nothing was booked, or the connection was lost after the commit.
        """
        with translated("settling a budget"):
            async with self._pool.acquire() as connection, connection.transaction():
                now = await self._now(connection)
                reserved = await connection.fetch(query("energy", "reserved_in"), reservation_id)
                names = scopes([*(spent if limited is None else limited), *(row["scope"] for row in reserved)])
                # Locked before anything is read: no other transaction may see the reservation ended and its cost not yet booked.
                await locked(connection, names, now)
                new = [await connection.fetchval(query("energy", "record"), *row(each)) for each in consumed]
                if any(new):
                    await connection.execute(query("energy", "spend"), names, *columns(names, spent), now)
                await connection.execute(query("energy", "release"), names, reservation_id)

    async def levels(self, names: Iterable[str]) -> dict[str, Level]:
        """The amounts spent and reserved now, by scope. Raises Retryable."""
        wanted = scopes(names)
        with translated("reading budgets"):
            async with self._pool.acquire() as connection:
                now = await self._now(connection)
                known = await connection.fetch(query("energy", "levels"), wanted, now)
                reserved = await connection.fetch(query("energy", "reserved"), wanted, now)
                return levels(wanted, known, reserved)

    async def _now(self, connection: Connection) -> datetime:
        now: datetime = await connection.fetchval(query("energy", "now"), self._clock() if self._clock else None)
        return now


async def locked(connection: Connection, names: Sequence[str], now: datetime) -> Sequence[Any]:
    """Creates missing rows of the scopes and locks all of them in the order of their names."""
    await connection.execute(query("energy", "open"), names)
    return await connection.fetch(query("energy", "lock"), names, now)


def levels(names: Sequence[str], known: Sequence[Any], reserved: Sequence[Any]) -> dict[str, Level]:
    spent = {row["scope"]: row for row in known}
    waiting = {row["scope"]: Amount(row["tokens"], row["micros"]) for row in reserved}
    return {
        name: Level(
            hour=Amount(row["hour_tokens"], row["hour_micros"]),
            day=Amount(row["day_tokens"], row["day_micros"]),
            reserved=waiting.get(name, Amount()),
        )
        if (row := spent.get(name))
        else Level()
        for name in names
    }


def scopes(names: Iterable[str]) -> list[str]:
    return sorted({storable(name) for name in names})


def columns(names: Sequence[str], amounts: Mapping[str, Amount]) -> tuple[list[int], list[int]]:
    """Tokens and money of each scope, in the order of the names. Names with the same stored form are one scope."""
    by_name: dict[str, Amount] = {}
    for name, amount in amounts.items():
        by_name[storable(name)] = by_name.get(storable(name), Amount()) + amount
    parts = [by_name.get(name, Amount()) for name in names]
    return [part.tokens for part in parts], [part.micros for part in parts]


def row(consumed: Consumed) -> tuple[Any, ...]:
    return (
        *(
            consumed.usage_id,
            consumed.at,
            consumed.operation,
            consumed.lane,
            consumed.outcome,
            consumed.provider,
            consumed.model,
        ),
        *(consumed.calls, consumed.input_tokens, consumed.output_tokens),
        *(consumed.cache_read_tokens, consumed.cache_write_tokens, consumed.cost_micros, consumed.batched),
        *([storable(name) for name in consumed.namespaces], consumed.request_id, consumed.conversation_id),
    )
