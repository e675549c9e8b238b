"""An import that tells how far it is: while its lines come in, and until the curator has carried out the last of them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import Final, TypeAlias

from agents.api.http.lines import Line
from agents.api.memories.imports import Import, ImportProgress, ImportReport, Settled

LOOK_S: Final = 1.0
STALLED_S: Final = 60.0  # without a step: no worker runs, or the last commands went to the dead letters

ImportStep: TypeAlias = ImportProgress | ImportReport


async def never() -> bool:
    return False


async def followed(
    run: Import,
    lines: AsyncIterable[Line],
    settled: Settled,
    is_abandoned: Callable[[], Awaitable[bool]] = never,
    *,
    look_s: float = LOOK_S,
    stalled_s: float = STALLED_S,
) -> AsyncGenerator[ImportStep, None]:
    """How far it is, each `look_s`; last of all the report, once all is carried out or nothing was for `stalled_s`.

    Once all lines are in, it ends when it `is_abandoned`. To be closed: what is not sent by then is not sent any more. Raises
    Retryable."""
    running = asyncio.create_task(run.run(lines))
    try:
        while running in (await asyncio.wait({running}, timeout=look_s))[1]:
            yield await run.progress(settled)
        report = await running
        async for progress in until_carried_out(run, settled, look_s, stalled_s):
            yield progress
            if await is_abandoned():
                return
        yield report
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def until_carried_out(
    run: Import, settled: Settled, look_s: float, stalled_s: float
) -> AsyncGenerator[ImportProgress, None]:
    clock = asyncio.get_running_loop().time
    done, moved_at = -1, clock()
    while True:
        progress = await run.progress(settled)
        yield progress
        if progress.carried_out > done:
            done, moved_at = progress.carried_out, clock()
        if done >= progress.accepted or clock() - moved_at >= stalled_s:
            return
        await asyncio.sleep(look_s)
