"""How a memstream process behaves: where it logs, when it is asked to stop, and that it ends."""

import asyncio
import logging
import os
import signal
import threading

from deploy.settings import Settings
from streams.delivery.fenced_futures import leave_out_fenced_futures

STOP_WITHIN_S = 20.0

QUIET = ("uvicorn", "aiokafka", "faust", "mode", "httpx", "httpcore", "httpx2", "httpcore2", "asyncio", "mcp")


def log_to_stderr(settings: Settings) -> None:
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", force=True
    )
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
    leave_out_fenced_futures()


def stop_on_signals() -> asyncio.Event:
    """Set by SIGTERM and SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def end_soon(within_s: float = STOP_WITHIN_S) -> None:
    """Ends the process if it has not ended by itself in time.

    A connection to a server that hangs can keep a process from closing it. A crashed stage can leave tasks and threads behind
    that keep a worker alive, heartbeating and deaf, so that nobody gets its partitions. Whatever was not stored is done again
    by another worker.
    """
    timer = threading.Timer(within_s, os._exit, (1,))
    timer.daemon = True
    timer.start()
