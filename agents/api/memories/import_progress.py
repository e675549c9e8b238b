"""Runs an import and reports its progress until the curator has applied the last command."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import Final, TypeAlias

from agents.api.http.line_splitter import Line
from agents.api.memories.imports import Import, ImportProgress, ImportReport, Settled

INTERVAL_S: Final = 1.0
STALL_TIMEOUT_S: Final = 60.0  # without progress: no worker runs, or the last commands became dead letters

ImportStep: TypeAlias = ImportProgress | ImportReport


async def never() -> bool:
    return False


async def progress_steps(
    run: Import,
    lines: AsyncIterable[Line],
    settled: Settled,
    is_abandoned: Callable[[], Awaitable[bool]] = never,
    *,
    interval_s: float = INTERVAL_S,
    stall_timeout_s: float = STALL_TIMEOUT_S,
) -> AsyncGenerator[ImportStep, None]:
    """Yields the progress every `interval_s` seconds and the report at the end: when all commands are applied, or when no
    command was applied for `stall_timeout_s` seconds.

    After all lines are read, it also ends when `is_abandoned` returns True. The caller must close the generator, which
    cancels unsent lines. Raises Retryable.
    """
    running = asyncio.create_task(run.run(lines))
    try:
        while running in (await asyncio.wait({running}, timeout=interval_s))[1]:
            yield await run.progress(settled)
        report = await running
        async for progress in until_applied(run, settled, interval_s, stall_timeout_s):
            yield progress
            if await is_abandoned():
                return
        yield report
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def until_applied(
    run: Import, settled: Settled, interval_s: float, stall_timeout_s: float
) -> AsyncGenerator[ImportProgress, None]:
    clock = asyncio.get_running_loop().time
    applied, progressed_at = -1, clock()
    while True:
        progress = await run.progress(settled)
        yield progress
        if progress.carried_out > applied:
            applied, progressed_at = progress.carried_out, clock()
        if applied >= progress.accepted or clock() - progressed_at >= stall_timeout_s:
            return
        await asyncio.sleep(interval_s)
