"""Writing the changes of one transaction."""

from collections.abc import Sequence

import numpy as np

from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.memories.entry import LedgerEntry
from sinks.memories.reader import Memories
from sinks.memories.writer import record, sequence
from sinks.postgres.connection import Pool
from sinks.vectors.port import Vector
from tests.builders.memories import NOON, a_memory


def entry(before: Memory | None, after: Memory, vector: Vector | None) -> LedgerEntry:
    change = "created" if before is None else "merged"
    cause = Cause(actor="test")
    return LedgerEntry(
        change=change, before=before, after=after, normalised=after.text, cause=cause, at=NOON, vector=vector
    )


async def recorded(pool: Pool, entries: Sequence[LedgerEntry]) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await sequence(connection, entries[0].after.namespace)
        await record(connection, entries[0].after.namespace, entries, "m")


async def test_a_memory_changed_several_times_in_one_transaction_keeps_its_latest_vector(pool: Pool) -> None:
    first = a_memory("User hikes", NOON, version=1, sequence=1)
    second = a_memory("User hikes with Bob", NOON, memory_id=first.memory_id, version=2, sequence=2)
    third = a_memory("User hikes with Bob", NOON, memory_id=first.memory_id, version=3, sequence=3, importance=0.9)
    old, new = np.array([1, 0, 0, 0], np.float32), np.array([0, 1, 0, 0], np.float32)
    await recorded(pool, [entry(None, first, old), entry(first, second, new), entry(second, third, None)])
    (point,) = await Memories(pool).points([first.memory_id], "m")
    assert point.vector.tolist() == new.tolist()


async def test_a_memory_is_found_by_its_text_even_if_that_is_a_nul(pool: Pool) -> None:
    memory = a_memory("\x00", NOON, memory_id="nul", version=1, sequence=1)
    await recorded(pool, [entry(None, memory, np.array([1, 0, 0, 0], np.float32))])
    (found,) = await Memories(pool).live_by_text(memory.namespace, ["\x00"])
    assert found.memory_id == memory.memory_id
