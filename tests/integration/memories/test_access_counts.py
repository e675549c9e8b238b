"""Read counts on a real database are summed over processes and deleted with their memory."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from schemas.memories.commands import Command
from sinks.memories.access_counts import Access, Accesses
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def test_access_counts_add_up_and_do_not_change_the_memory(bench: "Bench") -> None:
    memory, accesses = await bench.remember("User has a dog"), Accesses(bench.pool)
    later = NOON + timedelta(hours=1)
    assert await accesses.of([memory.memory_id]) == {}
    await accesses.add({memory.memory_id: Access(2, later), "gone": Access(1, NOON)})
    await accesses.add({memory.memory_id: Access(3, NOON)})
    assert await accesses.of([memory.memory_id, "gone"]) == {memory.memory_id: Access(5, later)}
    assert await bench.memories.get(memory.memory_id) == memory
    assert len(await bench.memories.versions(memory.memory_id)) == 1


async def test_concurrent_access_counting_and_an_erasure_do_not_deadlock(bench: "Bench") -> None:
    said = [f"User owns thing number {number}" for number in range(20)]
    outcome = await bench.curator.curate(bench.batch(*said))
    ids = [str(ruling.memory_id) for ruling in outcome.rulings]
    accesses = Accesses(bench.pool)

    async def count(order: list[str]) -> None:
        for _ in range(10):
            await accesses.add(dict.fromkeys(order, Access(1, NOON)))

    purge = Command(command_id="p", kind="purge", namespace="n", at=NOON)
    await asyncio.gather(count(ids), count(ids[::-1]), bench.curator.apply_command(purge), count(sorted(ids)))
    assert await bench.memories.count_live("n") == 0
    assert await bench.pool.fetchval("SELECT count(*) FROM memory_accesses") == 0


async def test_access_counts_of_concurrent_processes_are_all_added(bench: "Bench") -> None:
    outcome = await bench.curator.curate(bench.batch(*(f"User owns thing number {number}" for number in range(9))))
    ids = [str(ruling.memory_id) for ruling in outcome.rulings]
    accesses = Accesses(bench.pool)
    await asyncio.gather(
        *(accesses.add(dict.fromkeys(ids[:: 1 if turn % 2 else -1], Access(1, NOON))) for turn in range(16))
    )
    assert {access.access_count for access in (await accesses.of(ids)).values()} == {16}
