"""What the embedded servers have in common: a port on loopback that is kept, a guarded process, its end."""

from pathlib import Path

from deploy.embedded.ports import free_port, require_free
from deploy.embedded.process import GuardedProcess, Probe


class EmbeddedPart:
    """A server on loopback with its data in `data_dir`. A port that the caller does not choose is chosen once and kept."""

    name: str

    def __init__(self, data_dir: Path, port: int | None = None) -> None:
        self.data_dir = data_dir.absolute()
        self._wanted_port = port
        self._port = 0
        self._process: GuardedProcess | None = None

    @property
    def pid(self) -> int:
        """The server's process. Raises RuntimeError before the first start."""
        if self._process is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._process.pid

    async def stop(self) -> None:
        """Shuts the server down cleanly: the next start has nothing to recover."""
        if self._process is not None:
            await self._process.stop()

    def kill(self) -> None:
        """SIGKILL, for tests of what a crash does."""
        if self._process is not None:
            self._process.kill()

    @property
    def _lock_path(self) -> Path:
        return self.data_dir / ".guard-lock"

    def _claim_port(self) -> None:
        """Raises EmbeddedPartFailed when another process has the port."""
        if not self._port:
            self._port = self._wanted_port or free_port()
        require_free(self.name, self._port)

    async def _run(self, process: GuardedProcess, ready: Probe, within_s: float) -> None:
        """Starts the process and returns once it is ready."""
        self._process = process
        process.start()
        await process.wait_ready(ready, within_s)
