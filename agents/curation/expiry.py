"""Sets expired memories to `expired`, each in the deciding transaction of its namespace."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from agents.curation.ledgers import DecidingTransaction, record_changes
from agents.curation.rules.decisions.endings import at_its_end, successor_at_end
from agents.curation.rules.ledger.ledger import Ledger
from schemas.errors import Retryable
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.memories import writer
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool

AT_ONCE: Final = 500  # namespaces, and memories of each
MOST_STEPS: Final = 8  # of a plan that was postponed or merged again and again


class Expiry:
    """Several workers may run it concurrently: each memory expires once."""

    def __init__(
        self, pool: Pool, deciding_transaction: DecidingTransaction, clock: Callable[[], datetime], embedding_model: str
    ) -> None:
        self._pool = pool
        self._deciding_transaction = deciding_transaction
        self._clock = clock
        self._embedding_model = embedding_model

    async def expire(self) -> int:
        """Expires a bounded number of memories and returns it. Tries every namespace before it raises Retryable."""
        now, count = self._clock(), 0
        failures: list[Retryable] = []
        for namespace in await Memories(self._pool).expiring(now, AT_ONCE):
            try:
                count += await self._expire(namespace, now)
            except Retryable as exc:
                failures.append(exc)
        if failures:
            raise failures[0]
        return count

    async def _expire(self, namespace: str, now: datetime) -> int:
        async with self._deciding_transaction(namespace) as connection:
            memories = Memories(connection)
            over = await memories.expired(namespace, now, AT_ONCE)
            successors = await successors_of(memories, over)
            ledger = Ledger(namespace, await writer.sequence(connection, namespace), over)
            for memory in over:
                kind, after = at_its_end(memory, successor_at_end(memory, successors), now)
                changed = "removed" if after.superseded_by is None else "postponed"
                reason = f"the scheduled successor was {changed}" if kind == "updated" else "validity ended"
                ledger.enter(kind, after, Cause(actor="memstream", reason=reason), now)
            await record_changes(connection, ledger, now, self._embedding_model)
            return len(over)


async def successors_of(memories: Memories, over: Sequence[Memory]) -> dict[str, Memory]:
    """The successors of memories, and those that took their places meanwhile, by id."""
    known: dict[str, Memory] = {}
    wanted = {each.superseded_by for each in over if each.superseded_by}
    for _ in range(MOST_STEPS):
        if not wanted:
            break
        found = await memories.by_ids(sorted(wanted))
        known |= found
        wanted = {each.superseded_by for each in found.values() if each.status != "active" and each.superseded_by}
        wanted -= known.keys()
    return known
