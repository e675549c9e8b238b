import asyncio

import pytest

from schemas.errors import Retryable
from sinks.postgres.connection import Pool, connect
from sinks.postgres.policy_lock import writing_policies


async def test_only_one_process_writes_policies_at_a_time(pool: Pool, dsn: str) -> None:
    other, notes = await connect(dsn), []

    async def write(through: Pool, name: str) -> None:
        async with writing_policies(through):
            notes.append(name)
            await asyncio.sleep(0)
            notes.append(name)

    await asyncio.gather(*(write(through, f"{number}") for number in range(4) for through in (pool, other)))
    assert notes[::2] == notes[1::2]
    await other.close()


async def test_waiting_for_another_policy_writer_times_out(pool: Pool, dsn: str) -> None:
    hasty = await connect(dsn, command_timeout_s=0.1)
    async with writing_policies(pool):
        with pytest.raises(Retryable):
            async with writing_policies(hasty):
                raise AssertionError("two write at once")
    await hasty.close()


async def test_a_failing_policy_writer_releases_the_lock(pool: Pool) -> None:
    with pytest.raises(KeyError):
        async with writing_policies(pool):
            raise KeyError
    async with writing_policies(pool):
        pass
