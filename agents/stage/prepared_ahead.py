"""Work in parts that are prepared, by what takes long and changes nothing, while the ones before are finished."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

Part = TypeVar("Part")
Prepared = TypeVar("Prepared")


async def prepared_ahead(
    parts: Sequence[Part], prepare: Callable[[Part], Coroutine[Any, Any, Prepared]], *, ahead: int = 1
) -> AsyncGenerator[tuple[Part, Prepared], None]:
    """Each part with what was prepared for it, in their order; `ahead` parts behind it are being prepared meanwhile. Raises what
    preparing raises, when its part comes.

    To be closed: what is still being prepared is then cancelled.
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
