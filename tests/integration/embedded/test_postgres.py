"""PostgreSQL as an embedded server, as root and as an ordinary user."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.ports import LOOPBACK
from deploy.embedded.postgres.server import EmbeddedPostgres

PROJECT = Path(__file__).parents[3]
NOBODY = 65534

PARENT = """
import asyncio, sys
from pathlib import Path
from deploy.embedded.postgres.server import EmbeddedPostgres
server = EmbeddedPostgres(Path({data!r}))
asyncio.run(server.start())
print(server.pid, flush=True)
sys.stdin.read()
"""

ROUND_TRIP = """
import asyncio, sys
from pathlib import Path
import asyncpg
from deploy.embedded.postgres.server import EmbeddedPostgres

async def main():
    server = EmbeddedPostgres(Path(sys.argv[1]))
    await server.start()
    try:
        connection = await asyncpg.connect(server.dsn)
        print(await connection.fetchval("SELECT current_database()"))
        await connection.close()
    finally:
        await server.stop()

asyncio.run(main())
"""


@pytest.fixture
async def postgres(tmp_path: Path) -> AsyncIterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(tmp_path)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def reachable_dir() -> Iterator[Path]:
    """A directory that other users can reach, unlike pytest's own."""
    directory = Path(tempfile.mkdtemp(prefix="memstream-test-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


async def execute(server: EmbeddedPostgres, *statements: str) -> Any:
    connection = await asyncpg.connect(server.dsn)
    try:
        return [await connection.fetch(statement) for statement in statements][-1]
    finally:
        await connection.close()


async def test_committed_rows_survive_a_stop_and_a_kill(postgres: EmbeddedPostgres, gone: Any):
    await execute(postgres, "CREATE TABLE notes (id int)", "INSERT INTO notes VALUES (1)")
    address, first_life = postgres.dsn, postgres.pid
    await postgres.stop()
    assert gone(first_life)

    await postgres.start()
    assert postgres.dsn == address
    await execute(postgres, "INSERT INTO notes VALUES (2)")
    postgres.kill()

    await postgres.start()
    assert [row["id"] for row in await execute(postgres, "SELECT id FROM notes ORDER BY id")] == [1, 2]


async def test_postgres_starts_although_another_process_has_the_pid_of_the_old_server(postgres: EmbeddedPostgres):
    postgres.kill()
    pid_file = postgres.data_dir / "cluster" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    await postgres.start()
    assert await execute(postgres, "SELECT 1")


async def test_the_database_is_utf8_durable_and_on_loopback_only(postgres: EmbeddedPostgres):
    (row,) = await execute(
        postgres,
        "SELECT current_database() AS database, current_setting('server_encoding') AS encoding, "
        "current_setting('fsync') AS fsync, current_setting('listen_addresses') AS listen, "
        "current_setting('unix_socket_directories') AS sockets, current_setting('data_directory_mode') AS mode",
    )
    assert dict(row) == {
        "database": "memstream",
        "encoding": "UTF8",
        "fsync": "on",
        "listen": LOOPBACK,
        "sockets": "",
        "mode": "0700",
    }


async def test_an_interrupted_first_start_is_repeated(tmp_path: Path):
    (tmp_path / "cluster.new" / "base").mkdir(parents=True)
    server = EmbeddedPostgres(tmp_path)
    await server.start()
    assert await execute(server, "SELECT 1")
    await server.stop()


def test_the_server_is_gone_after_its_parent_was_killed(parent: Any, until: Any, gone: Any, tmp_path: Path):
    process, (pid,) = parent(PARENT.format(data=str(tmp_path)))
    assert not gone(pid)
    process.kill()
    until(lambda: gone(pid))


async def test_postgres_starts_at_once_after_its_parent_was_killed(parent: Any, tmp_path: Path):
    process, _ = parent(PARENT.format(data=str(tmp_path)))
    process.kill()
    server = EmbeddedPostgres(tmp_path)
    await server.start()
    assert await execute(server, "SELECT 1")
    await server.stop()


async def test_an_occupied_port_is_reported(tmp_path: Path):
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedPartFailed, match=f"postgres: port {port} on 127.0.0.1 cannot be used"):
            await EmbeddedPostgres(tmp_path, port).start()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root to become somebody else")
@pytest.mark.parametrize("uid", [NOBODY, 54_321], ids=["nobody", "a uid without a name"])
def test_an_ordinary_user_can_run_postgres(reachable_dir: Path, uid: int):
    os.chown(reachable_dir, uid, uid)
    # The interpreter and the binaries may lie where only root can read.
    reading = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    become = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *reading]
    done = subprocess.run(
        [*become, sys.executable, "-c", ROUND_TRIP, str(reachable_dir / "data")],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "memstream", done.stderr
    assert (reachable_dir / "data" / "cluster").stat().st_uid == uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root falls back to nobody")
async def test_root_without_user_namespaces_runs_postgres_as_nobody(
    reachable_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    # Loaded by the guard's interpreter before anything else.
    (reachable_dir / "sitecustomize.py").write_text(
        "from deploy.embedded.postgres import unprivileged\nunprivileged.namespace_allowed = lambda *_: False\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(reachable_dir))
    server = EmbeddedPostgres(reachable_dir / "data")
    await server.start()
    assert await execute(server, "SELECT 1")
    assert (reachable_dir / "data" / "cluster").stat().st_uid == NOBODY
    await server.stop()
