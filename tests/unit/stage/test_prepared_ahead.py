"""Parts are prepared ahead of the current one, up to a limit."""

import asyncio
from contextlib import aclosing

import pytest

from agents.stage.prefetch import prefetched


async def test_each_item_comes_with_its_prepared_result_while_the_next_is_prepared():
    log: list[str] = []

    async def prepare(part: int) -> str:
        log.append(f"prepare {part}")
        await asyncio.sleep(0)
        return f"ready {part}"

    async with aclosing(prefetched([1, 2, 3], prepare)) as prepared:
        async for part, ready in prepared:
            await asyncio.sleep(0.01)
            log.append(f"{ready} for {part}")
    assert log == ["prepare 1", "prepare 2", "ready 1 for 1", "prepare 3", "ready 2 for 2", "ready 3 for 3"]


async def test_two_items_can_be_prepared_concurrently_and_keep_their_order():
    begun: list[int] = []

    async def prepare(part: int) -> int:
        begun.append(part)
        await asyncio.sleep(0.01 if part == 1 else 0)
        return part

    async with aclosing(prefetched([1, 2, 3, 4], prepare, ahead=2)) as prepared:
        finished = [(part, ready, begun.copy()) async for part, ready in prepared if not await asyncio.sleep(0)]
    assert finished == [(1, 1, [1, 2, 3]), (2, 2, [1, 2, 3, 4]), (3, 3, [1, 2, 3, 4]), (4, 4, [1, 2, 3, 4])]


async def test_without_items_nothing_is_prepared():
    async def prepare(part: int) -> int:
        raise AssertionError(part)

    async with aclosing(prefetched([], prepare)) as prepared:
        assert [each async for each in prepared] == []


async def test_an_error_while_preparing_is_raised_after_the_items_before_it():
    async def prepare(part: int) -> int:
        if part == 2:
            raise ValueError(part)
        return part

    finished: list[int] = []
    with pytest.raises(ValueError, match="2"):
        async with aclosing(prefetched([1, 2, 3], prepare)) as prepared:
            async for part, _ in prepared:
                await asyncio.sleep(0)
                finished.append(part)
    assert finished == [1]


async def test_preparation_in_progress_is_cancelled_when_the_consumer_fails():
    cancelled: list[int] = []

    async def prepare(part: int) -> int:
        try:
            await asyncio.sleep(100 if part == 2 else 0)
        except asyncio.CancelledError:
            cancelled.append(part)
            raise
        return part

    with pytest.raises(ValueError, match="1"):
        async with aclosing(prefetched([1, 2], prepare)) as prepared:
            async for part, _ in prepared:
                await asyncio.sleep(0)
                raise ValueError(part)
    assert cancelled == [2]
