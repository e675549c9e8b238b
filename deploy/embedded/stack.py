"""The embedded stack: Kafka, PostgreSQL and the vector server with one data directory.

`python -m deploy.embedded.stack DATA_DIR CACHE_DIR` runs it in the foreground and prints its addresses as one line of JSON.
It ends on SIGTERM, SIGINT, or at the end of its stdin.
"""

import argparse
import asyncio
import fcntl
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.kafka.broker import EmbeddedBroker
from deploy.embedded.postgres.server import EmbeddedPostgres
from deploy.embedded.vectors.process import EmbeddedVectors

# (what, done, total): counts of jars during downloads, then of parts that are ready.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Ports:
    """Loopback ports; None picks a free one."""

    kafka: int | None = None
    postgres: int | None = None
    qdrant: int | None = None


class EmbeddedStack:
    """Starts the three servers concurrently, and stops all of them, also if one fails.

    `cache_dir` keeps downloaded files (Kafka's jars) and may be shared by several stacks.
    """

    def __init__(
        self, data_dir: Path, cache_dir: Path, ports: Ports | None = None, progress: Progress | None = None
    ) -> None:
        wanted = ports or Ports()
        self.data_dir = data_dir.absolute()
        self.broker = EmbeddedBroker(self.data_dir / "kafka", cache_dir / "jars", wanted.kafka)
        self.postgres = EmbeddedPostgres(self.data_dir / "postgres", wanted.postgres)
        self.vectors = EmbeddedVectors(self.data_dir / "vectors", wanted.qdrant)
        self._report = progress or (lambda _what, _done, _total: None)
        self._lock: IO[str] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """Kafka's address, host:port."""
        return self.broker.bootstrap_servers

    @property
    def dsn(self) -> str:
        """PostgreSQL's connection URL."""
        return self.postgres.dsn

    @property
    def qdrant_url(self) -> str:
        """The base URL of the vector server."""
        return self.vectors.url

    async def start(self) -> None:
        """Returns once all three servers are ready. Raises EmbeddedPartFailed; then none is left running."""
        self._lock = self._hold_data_dir()
        try:
            await self._start_parts()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stops all three servers cleanly and releases the data directory."""
        try:
            await asyncio.gather(self.broker.stop(), self.postgres.stop(), self.vectors.stop())
        finally:
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _hold_data_dir(self) -> IO[str]:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        lock = (self.data_dir / ".lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            lock.close()
            raise EmbeddedPartFailed(
                "embedded stack",
                f"another memstream uses {self.data_dir}",
                "Stop it, or choose another data directory.",
            ) from exc
        return lock

    async def _start_parts(self) -> None:
        starts = {
            "Kafka": self.broker.start(lambda done, total, name: self._report(f"fetched {name}", done, total)),
            "PostgreSQL": self.postgres.start(),
            "Qdrant": self.vectors.start(),
        }
        tasks = {asyncio.create_task(start): part for part, start in starts.items()}
        pending = set(tasks)
        try:
            while pending:
                finished, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    task.result()
                    self._report(f"{tasks[task]} is ready", len(tasks) - len(pending), len(tasks))
        finally:  # a part failed, or the start was cancelled: cancel the starts of the others
            for task in pending:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def serve(data_dir: Path, cache_dir: Path) -> None:
    """Runs the stack until a signal or the end of stdin."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)

    def await_end_of_input() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=await_end_of_input, daemon=True).start()
    async with EmbeddedStack(data_dir, cache_dir, progress=print_progress) as stack:
        addresses = {name: getattr(stack, name) for name in ("bootstrap_servers", "dsn", "qdrant_url")}
        sys.stdout.write(json.dumps(addresses) + "\n")
        sys.stdout.flush()
        await ended.wait()


def print_progress(what: str, done: int, total: int) -> None:
    """Prints progress to stderr, for a terminal."""
    sys.stderr.write(f"{what} ({done}/{total})\n")


def main(argv: list[str]) -> int:
    """Returns 0 after a clean end, and 1 if a part fails, with the reason on stderr."""
    parser = argparse.ArgumentParser(prog="stack", description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("cache_dir", type=Path, nargs="?", default=Path.home() / ".cache" / "memstream")
    options = parser.parse_args(argv)
    try:
        asyncio.run(serve(options.data_dir, options.cache_dir))
    except EmbeddedPartFailed as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
