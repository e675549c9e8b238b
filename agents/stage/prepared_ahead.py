"""Work in parts of which each is prepared, by what takes long and changes nothing, while the one before is finished."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

Part = TypeVar("Part")
Prepared = TypeVar("Prepared")


async def prepared_ahead(
    parts: Sequence[Part], prepare: Callable[[Part], Coroutine[Any, Any, Prepared]]
) -> AsyncGenerator[tuple[Part, Prepared], None]:
    """Each part with what was prepared for it, in their order. Raises what preparing raises, when its part comes.

    To be closed: what is still being prepared is then cancelled.
    """
    following = asyncio.create_task(prepare(parts[0])) if parts else None
    try:
        for place, part in enumerate(parts, 1):
            assert following is not None
            prepared = await following
            if place < len(parts):
                following = asyncio.create_task(prepare(parts[place]))
            yield part, prepared
    finally:
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
