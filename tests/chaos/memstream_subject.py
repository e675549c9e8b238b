"""memstream's own workers under the kill loop."""

from pathlib import Path
from typing import Self

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from deploy.wiring import connections
from tests.chaos.conversations import Conversation
from tests.chaos.ledger import Ledger, balance, lags
from tests.chaos.stores import differing
from tests.chaos.subject import QUIET_WITHIN_S
from tests.chaos.workers import WorkerProcess
from tests.preparation import prepared


class Memstream:
    """Workers with all stages, held to every entry of the ledger."""

    stuck_after_s = QUIET_WITHIN_S  # it is not to stand still at all

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.settings = settings
        self._directory = directory
        self._workers = 0

    @classmethod
    async def prepared(cls, stack: EmbeddedStack, name: str, directory: Path) -> Self:
        return cls(await prepared(stack, name, directory), directory)

    def worker(self) -> WorkerProcess:
        self._workers += 1
        return WorkerProcess(f"worker-{self._workers}", self.settings, self._directory)

    async def lag(self) -> int:
        return sum((await lags(self.settings)).values())

    async def behind(self) -> int:
        async with connections.postgres(self.settings, max_size=1) as pool:
            return await self.lag() + int(await pool.fetchval("SELECT count(*) FROM outbox"))

    async def left_wrong(self) -> list[str]:
        return await differing(self.settings, self._directory)

    async def ledger(self, published: list[Conversation]) -> Ledger:
        async with connections.postgres(self.settings, max_size=2) as pool:
            return await balance(self.settings, pool, published)
