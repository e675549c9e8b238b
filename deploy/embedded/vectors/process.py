"""Qdrant's engine as an embedded server: the process of its own behind `url`."""

import asyncio
import sys
from pathlib import Path

from deploy.embedded.ports import LOOPBACK, free_port, require_free
from deploy.embedded.process import GuardedProcess
from deploy.embedded.vectors import server

PART = "vectors"
START_TIMEOUT_S = 60.0


class EmbeddedVectors:
    """One vector server on loopback, for `qdrant_client.AsyncQdrantClient(url=...)`; data stays in `data_dir`."""

    def __init__(self, data_dir: Path, port: int | None = None) -> None:
        self.data_dir = data_dir.absolute()
        self._wanted_port = port
        self._port = 0
        self._process: GuardedProcess | None = None

    @property
    def url(self) -> str:
        """Base URL for clients; known once started."""
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def pid(self) -> int:
        """The server process."""
        if self._process is None:
            raise RuntimeError("vectors has not been started")
        return self._process.pid

    async def start(self) -> None:
        """Returns once requests are answered; after a crash the write-ahead logs are replayed first.

        A port that was not chosen by the caller is kept for later starts of this object.
        """
        self.data_dir.mkdir(parents=True, exist_ok=True)
        if not self._port:
            self._port = self._wanted_port or free_port()
        require_free(PART, self._port)
        self._process = GuardedProcess(
            PART,
            [sys.executable, "-m", server.__name__, str(self.data_dir / "collections"), str(self._port)],
            self.data_dir / "vectors.log",
            lock_path=self.data_dir / ".guard-lock",
        )
        self._process.start()
        await self._process.wait_ready(self._answers, START_TIMEOUT_S)

    async def stop(self) -> None:
        """Finishes running requests, flushes, ends."""
        if self._process is not None:
            await self._process.stop()

    def kill(self) -> None:
        """SIGKILL, for tests of what a crash does."""
        if self._process is not None:
            self._process.kill()

    async def _answers(self) -> bool:
        reader, writer = await asyncio.open_connection(LOOPBACK, self._port)
        try:
            writer.write(b"GET /healthz HTTP/1.0\r\n\r\n")
            return b" 200 " in await asyncio.wait_for(reader.readline(), 5)
        finally:
            writer.close()
            await writer.wait_closed()
