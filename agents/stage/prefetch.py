"""Prefetching: prepares the next parts of some work, slowly and without side effects, while earlier ones are finished."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

Part = TypeVar("Part")
Prepared = TypeVar("Prepared")


async def prefetched(
    parts: Sequence[Part], prepare: Callable[[Part], Coroutine[Any, Any, Prepared]], *, ahead: int = 1
) -> AsyncGenerator[tuple[Part, Prepared], None]:
    """Yields each part with its prepared input, in order, while `ahead` further parts are being prepared. Raises a part's
    error when its turn comes.

    Close it to cancel pending preparations.
    """
    preparing: deque[asyncio.Task[Prepared]] = deque(asyncio.create_task(prepare(part)) for part in parts[:ahead])
    try:
        for place, part in enumerate(parts):
            prepared = await preparing[0]
            preparing.popleft()
            if place + ahead < len(parts):
                preparing.append(asyncio.create_task(prepare(parts[place + ahead])))
            yield part, prepared
    finally:
        for task in preparing:
            task.cancel()
        await asyncio.gather(*preparing, return_exceptions=True)
