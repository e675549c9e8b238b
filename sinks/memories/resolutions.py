"""A model's verdicts on the candidates of a part, stored until the part is settled."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from schemas.extraction.candidates import CandidateBatch
from sinks.memories.settlements import Part
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query


class Resolutions:
    """The `resolutions` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, batch: CandidateBatch) -> Any | None:
        """The verdicts for a part, as builtins; None if no model was asked yet."""
        with translated("reading verdicts"):
            return await self._pool.fetchval(query("resolutions", "of_part"), batch.request_id, batch.part)

    async def keep(self, batch: CandidateBatch, verdicts: Sequence[Any], at: datetime) -> None:
        """Stores the verdicts; an earlier answer stays."""
        encoded = [msgspec.to_builtins(each) for each in verdicts]
        names = (batch.request_id, batch.part, batch.namespace, batch.conversation_id)
        with translated("storing verdicts"):
            await self._pool.execute(query("resolutions", "keep"), *names, encoded, at)


async def drop_verdicts(connection: Connection, part: Part) -> None:
    """Deletes the verdicts of a settled part: the versions of its memories have the decisions."""
    await connection.execute(query("resolutions", "drop_part"), part.request_id, part.part)
