"""Warm-up of the API's PostgreSQL connections."""

import asyncio
from typing import Any, cast

from deploy.wiring.api import warm_up
from sinks.postgres.connection import Pool


class Connections:
    """A pool of three, each of which is held until all of them are."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self._all_held = asyncio.Event()

    def get_max_size(self) -> int:
        return 3

    async def fetch(self, statement: str, *_: Any) -> list[Any]:
        self.statements.append(statement)
        if len(self.statements) == self.get_max_size():
            self._all_held.set()
        async with asyncio.timeout(5):
            await self._all_held.wait()
        return []


async def test_every_pooled_connection_runs_a_lexical_search_during_warm_up() -> None:
    pool = Connections()
    await warm_up(cast(Pool, pool))
    assert len(pool.statements) == 3
    assert all("to_tsvector" in statement for statement in pool.statements)
