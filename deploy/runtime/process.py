"""How a memstream process behaves: where it logs, when it is asked to stop, and that it ends."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from deploy.runtime.log_format import JsonLines, TextLines
from deploy.settings import Settings
from schemas.errors import MemstreamError
from streams.delivery.fenced_futures import leave_out_fenced_futures

log = logging.getLogger(__name__)

STOP_WITHIN_S = 20.0

# Their own lines tell of every request or record.
QUIET = ("uvicorn", "aiokafka", "faust", "mode", "httpx", "httpcore", "httpx2", "httpcore2", "asyncio", "mcp")


def log_to_stderr(settings: Settings) -> None:
    """Lines for people, or JSON ones. Only at the level debug do they quote what was said."""
    handler = logging.StreamHandler()
    handler.setFormatter(
        (JsonLines if settings.log_format == "json" else TextLines)(quoting=settings.log_level == "debug")
    )
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
    leave_out_fenced_futures()


@contextmanager
def end_logged() -> Iterator[None]:
    """What ends the process is the last line of its log, and its exit code 1."""
    try:
        yield
    except MemstreamError as exc:
        log.critical("memstream ends: %s", exc)
        raise typer.Exit(1) from exc
    except Exception as exc:
        log.critical("memstream ends by what nobody foresaw", exc_info=exc)
        raise typer.Exit(1) from exc


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
