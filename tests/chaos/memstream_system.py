"""memstream's workers under the kill loop."""

from collections.abc import Collection
from pathlib import Path
from typing import Self

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from deploy.wiring import connections
from tests.chaos.conversations import Conversation
from tests.chaos.erasing import UNFINISHED, erase, left_of
from tests.chaos.ledger import Ledger, balance, lags
from tests.chaos.stores import differing
from tests.chaos.system_under_test import QUIET_WITHIN_S
from tests.chaos.workers import WorkerProcess
from tests.preparation import prepared


class Memstream:
    """Workers with all stages, checked against every entry of the ledger."""

    stuck_after_s = QUIET_WITHIN_S  # it is not to stand still at all

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.settings = settings
        self._directory = directory
        self._workers = 0
        self._erased: set[str] = set()

    @classmethod
    async def prepared(cls, stack: EmbeddedStack, name: str, directory: Path) -> Self:
        return cls(await prepared(stack, name, directory), directory)

    def worker(self) -> WorkerProcess:
        self._workers += 1
        return WorkerProcess(f"worker-{self._workers}", self.settings, self._directory)

    async def erase(self, users: Collection[str]) -> None:
        self._erased.update(users)
        await erase(self.settings, users)

    async def lag(self) -> int:
        return sum((await lags(self.settings)).values())

    async def behind(self) -> int:
        async with connections.postgres(self.settings, max_size=1) as pool:
            waiting = [await pool.fetchval(statement) for statement in ("SELECT count(*) FROM outbox", UNFINISHED)]
            return await self.lag() + sum(waiting)

    async def left_wrong(self) -> list[str]:
        return await differing(self.settings, self._directory)

    async def ledger(self, published: list[Conversation]) -> Ledger:
        """Compares the data; nothing of erased users may be left."""
        kept = [each for each in published if each.user_id not in self._erased]
        gone = frozenset(each.conversation_id for each in published) - {each.conversation_id for each in kept}
        async with connections.postgres(self.settings, max_size=2) as pool:
            ledger = await balance(self.settings, pool, kept, gone)
            ledger.duplicated += await left_of(self._erased, self.settings, pool)
            return ledger
