"""Shared code of the embedded servers: a fixed loopback port, a guarded process, and its shutdown."""

from pathlib import Path

from deploy.embedded.ports import free_port, require_free
from deploy.embedded.process import GuardedProcess, Probe


class EmbeddedPart:
    """A server on loopback with its data in `data_dir`. Without a given port, the port is chosen once and kept."""

    name: str

    def __init__(self, data_dir: Path, port: int | None = None) -> None:
        self.data_dir = data_dir.absolute()
        self._wanted_port = port
        self._port = 0
        self._process: GuardedProcess | None = None

    @property
    def pid(self) -> int:
        """The process id of the server. Raises RuntimeError before the first start."""
        if self._process is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._process.pid

    async def stop(self) -> None:
        """Shuts the server down cleanly, so that the next start needs no recovery."""
        if self._process is not None:
            await self._process.stop()

    def kill(self) -> None:
        """Sends SIGKILL, for tests of crashes."""
        if self._process is not None:
            self._process.kill()

    @property
    def _lock_path(self) -> Path:
        return self.data_dir / ".guard-lock"

    def _claim_port(self) -> None:
        """Raises EmbeddedPartFailed if another process uses the port."""
        if not self._port:
            self._port = self._wanted_port or free_port()
        require_free(self.name, self._port)

    async def _run(self, process: GuardedProcess, ready: Probe, within_s: float) -> None:
        """Starts the process and returns once it is ready."""
        self._process = process
        process.start()
        await process.wait_ready(ready, within_s)
