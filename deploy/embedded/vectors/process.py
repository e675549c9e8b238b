"""Qdrant's engine as an embedded server in its own process, reachable at `url`."""

import asyncio
import sys

from deploy.embedded.part import EmbeddedPart
from deploy.embedded.ports import LOOPBACK
from deploy.embedded.process import GuardedProcess
from deploy.embedded.vectors import server

START_TIMEOUT_S = 60.0


class EmbeddedVectors(EmbeddedPart):
    """A vector server on loopback, for `qdrant_client.AsyncQdrantClient(url=...)`. Its data is in `data_dir`."""

    name = "vectors"

    @property
    def url(self) -> str:
        """Base URL for clients. Available after `start`."""
        return f"http://{LOOPBACK}:{self._port}"

    async def start(self) -> None:
        """Returns once the server answers requests; after a crash it replays the write-ahead logs first."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self._claim_port()
        command = [sys.executable, "-m", server.__name__, str(self.data_dir / "collections"), str(self._port)]
        process = GuardedProcess(self.name, command, self.data_dir / "vectors.log", lock_path=self._lock_path)
        await self._run(process, self._answers, START_TIMEOUT_S)

    async def _answers(self) -> bool:
        reader, writer = await asyncio.open_connection(LOOPBACK, self._port)
        try:
            writer.write(b"GET /healthz HTTP/1.0\r\n\r\n")
            return b" 200 " in await asyncio.wait_for(reader.readline(), 5)
        finally:
            writer.close()
            await writer.wait_closed()
