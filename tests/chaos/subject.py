"""What the kill loop attacks: the harness is one, the workers it kills are a parameter, so that it can be seen to fail."""

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


class Subject(Protocol):
    """Workers of one kind in one deployment. Conversations are published to the topics that `settings` names.

    `stuck_after_s`: one whose count of records behind has stood still for so long is not waited for any more.
    """

    settings: Settings
    stuck_after_s: float

    @classmethod
    async def prepared(cls, stack: EmbeddedStack, name: str, directory: Path) -> Self:
        """On a running stack, under names of its own; what its workers keep and log lies in the directory."""
        ...

    def worker(self) -> WorkerProcess:
        """Another worker under a new name, with an empty data directory, not yet started."""
        ...

    async def erase(self, users: Collection[str]) -> None:
        """Begins to erase users. What they said, and say after, may be in nothing that the ledger looks at."""
        ...

    async def lag(self) -> int:
        """Records published and not yet committed."""
        ...

    async def behind(self) -> int:
        """The lag, and whatever else is still to be done."""
        ...

    async def left_wrong(self) -> list[str]:
        """What is wrong, in words, with what the workers have left on disk. None runs any more."""
        ...

    async def ledger(self, published: list[Conversation]) -> Ledger:
        """What is missing or there twice, once nothing is behind."""
        ...


async def drained(subject: Subject, within_s: float = QUIET_WITHIN_S) -> int:
    """Waits until nothing is behind, twice in a row, or nothing moves any more; returns what is behind then."""
    begun = moved = time.monotonic()
    calm, behind = 0, -1
    while calm < 2 and time.monotonic() < min(begun + within_s, moved + subject.stuck_after_s):
        await asyncio.sleep(1.0)
        before, behind = behind, await subject.behind()
        moved = moved if behind == before else time.monotonic()
        calm = calm + 1 if behind == 0 else 0
    return behind
