"""The interface of a system that the kill loop attacks, implemented for memstream and for stock Faust."""

import asyncio
import time
from collections.abc import Collection
from pathlib import Path
from typing import Protocol, Self

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from tests.chaos.conversations import Conversation
from tests.chaos.ledger import Ledger
from tests.chaos.workers import WorkerProcess

QUIET_WITHIN_S = 600.0


class SystemUnderTest(Protocol):
    """Workers of one kind in one deployment. Conversations are published to the topics that `settings` names.

    `stuck_after_s`: a system whose pending count is unchanged for so long counts as stuck.
    """

    settings: Settings
    stuck_after_s: float

    @classmethod
    async def prepared(cls, stack: EmbeddedStack, name: str, directory: Path) -> Self:
        """Prepares the system on a running stack under its own names; its workers' data and logs are in the
        directory."""
        ...

    def worker(self) -> WorkerProcess:
        """Returns another worker under a new name, with an empty data directory, not yet started."""
        ...

    async def erase(self, users: Collection[str]) -> None:
        """Begins to erase users. None of their earlier or later messages may be in data that the ledger checks."""
        ...

    async def lag(self) -> int:
        """Returns the number of records published and not yet committed."""
        ...

    async def behind(self) -> int:
        """Returns the lag and all other pending work."""
        ...

    async def left_wrong(self) -> list[str]:
        """Describes errors in the files that the stopped workers left on disk."""
        ...

    async def ledger(self, published: list[Conversation]) -> Ledger:
        """Returns the missing and duplicated records, once nothing is pending."""
        ...


async def drained(system: SystemUnderTest, within_s: float = QUIET_WITHIN_S) -> int:
    """Waits until nothing is pending twice in a row, or nothing changes any more; returns the pending count."""
    begun = moved = time.monotonic()
    calm, behind = 0, -1
    while calm < 2 and time.monotonic() < min(begun + within_s, moved + system.stuck_after_s):
        await asyncio.sleep(1.0)
        before, behind = behind, await system.behind()
        moved = moved if behind == before else time.monotonic()
        calm = calm + 1 if behind == 0 else 0
    return behind
