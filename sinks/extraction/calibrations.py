"""How each model counts tokens, learned by all workers together from what providers bill."""

from collections.abc import Callable

from schemas.conversations.windows import Calibration
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query


class Calibrations:
    """The `calibrations` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all(self) -> dict[str, Calibration]:
        """By model; those of which nothing is learned are missing. Raises Retryable."""
        with translated("reading calibrations"):
            found = await self._pool.fetch(query("calibrations", "all"))
        return {row["model"]: Calibration(row["mean"], row["observed"]) for row in found}

    async def learn(self, model: str, change: Callable[[Calibration], Calibration]) -> Calibration:
        """Applies `change` to what is known of the model, `Calibration()` at first, and returns what is known then.

        Workers that learn at the same time wait for each other; what does not change is not written. `change` should be
        pure and quick: it runs while the row is locked, and again if another worker tells of the model first. Raises
        Retryable; then nothing is learned, or the connection was lost behind the commit.
        """
        with translated("learning a calibration"):
            async with self._pool.acquire() as connection, connection.transaction():
                while (learned := await learned_now(connection, model, change)) is None:
                    pass  # the other worker's row can be locked now
                return learned


async def learned_now(
    connection: Connection, model: str, change: Callable[[Calibration], Calibration]
) -> Calibration | None:
    """None when another worker began the model after this one found nothing of it."""
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
