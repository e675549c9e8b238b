"""Calibration of token counts by model, learned by all workers from providers' bills."""

from collections.abc import Callable

from schemas.conversations.windows import Calibration
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query


class Calibrations:
    """The `calibrations` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all(self) -> dict[str, Calibration]:
        """Calibrations by model; models without one are missing. Raises Retryable."""
        with translated("reading calibrations"):
            found = await self._pool.fetch(query("calibrations", "all"))
        return {row["model"]: Calibration(row["mean"], row["observed"]) for row in found}

    async def learn(self, model: str, change: Callable[[Calibration], Calibration]) -> Calibration:
        """Applies `change` to the model's calibration (`Calibration()` at first) and returns the result.

        Concurrent workers wait for each other. An unchanged calibration is not written. `change` must be pure and quick: it
        runs while the row is locked, and again if another worker stores the model first. Raises Retryable: nothing was
        stored, or the connection was lost after the commit.
        """
        with translated("learning a calibration"):
            async with self._pool.acquire() as connection, connection.transaction():
                while (learned := await learn_once(connection, model, change)) is None:
                    pass  # the other worker's row exists and can be locked now
                return learned


async def learn_once(
    connection: Connection, model: str, change: Callable[[Calibration], Calibration]
) -> Calibration | None:
    """None if another worker created the row of the model in the meantime."""
    row = await connection.fetchrow(query("calibrations", "lock"), model)
    known = Calibration(row["mean"], row["observed"]) if row else Calibration()
    learned = change(known)
    if learned == known:
        return learned
    if row:
        await connection.execute(query("calibrations", "change"), model, learned.mean, learned.observed)
        return learned
    begun = await connection.fetchval(query("calibrations", "begin"), model, learned.mean, learned.observed)
    return learned if begun else None
