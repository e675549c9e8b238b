"""Process lifecycle: logging, signals, shutdown."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from deploy.runtime.log_format import JsonFormatter, TextFormatter
from deploy.runtime.repeated_failures import RepeatedFailures
from deploy.settings import Settings
from schemas.errors import MemstreamError
from streams.delivery.fenced_futures import leave_out_fenced_futures

log = logging.getLogger(__name__)

STOP_WITHIN_S = 20.0

# These loggers write a line for every request or record.
QUIET = ("uvicorn", "aiokafka", "faust", "mode", "httpx", "httpcore", "httpx2", "httpcore2", "asyncio", "mcp")


def log_to_stderr(settings: Settings) -> None:
    """Sets up logging, as text or JSON. Only the level debug quotes users' text and repeats each temporary failure."""
    handler = logging.StreamHandler()
    handler.setFormatter(
        (JsonFormatter if settings.log_format == "json" else TextFormatter)(quoting=settings.log_level == "debug")
    )
    if settings.log_level != "debug":
        handler.addFilter(RepeatedFailures())
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
    leave_out_fenced_futures()


@contextmanager
def log_fatal_errors() -> Iterator[None]:
    """Logs the error that ends the process as its last line, and exits with code 1."""
    try:
        yield
    except MemstreamError as exc:
        log.critical("memstream stops: %s", exc)
        raise typer.Exit(1) from exc
    except Exception as exc:
        log.critical("memstream stops after an unexpected error", exc_info=exc)
        raise typer.Exit(1) from exc


def stop_on_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def exit_after(within_s: float = STOP_WITHIN_S) -> None:
    """Ends the process unless it ends by itself within that time.

    A connection to a hanging server can keep a process from closing it. A crashed stage can leave tasks and threads that
    keep a worker alive and heartbeating, so that no other worker gets its partitions. Another worker repeats whatever was
    not stored.
    """
    timer = threading.Timer(within_s, os._exit, (1,))
    timer.daemon = True
    timer.start()
