import asyncio

from sinks.postgres.connection import Pool
from sinks.windows.start_offsets import StartOffsets


async def test_workers_starting_together_all_use_the_offsets_of_one_of_them(pool: Pool) -> None:
    origins = StartOffsets(pool)
    proposals = [{("chat.messages", 0): n, ("chat.messages", 1): n * 10} for n in range(1, 9)]
    recorded = await asyncio.gather(*(origins.fix("windows", proposal) for proposal in proposals))
    assert recorded[0] in proposals
    assert all(each == recorded[0] for each in recorded)
    assert await origins.recorded("windows") == recorded[0]


async def test_each_consumer_group_has_its_own_start_offsets(pool: Pool) -> None:
    origins = StartOffsets(pool)
    await origins.fix("windows", {("t", 0): 5})
    assert await origins.recorded("archive") == {}
    assert await origins.fix("archive", {("t", 0): 7}) == {("t", 0): 7}


async def test_a_partition_added_later_gets_no_recorded_start_offset(pool: Pool) -> None:
    origins = StartOffsets(pool)
    await origins.fix("windows", {("t", 0): 5})
    assert await origins.fix("windows", {("t", 0): 9, ("t", 1): 9}) == {("t", 0): 5}
