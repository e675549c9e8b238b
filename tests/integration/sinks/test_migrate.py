import asyncio
import sys
from pathlib import Path

import asyncpg
import pytest

from schemas.errors import Retryable
from sinks.migrate import MIGRATIONS, migrate, pending
from sinks.postgres import connect

ALL = sorted(path.stem for path in MIGRATIONS.glob("*.sql"))
ROOT = Path(__file__).parents[3]
MIGRATE = "import asyncio, sys; from sinks.migrate import migrate; print(*asyncio.run(migrate(sys.argv[1])))"


async def test_migrating_twice_applies_everything_once(empty_dsn: str) -> None:
    assert await pending(empty_dsn) == ALL
    assert await migrate(empty_dsn) == ALL
    assert await migrate(empty_dsn) == []
    assert await pending(empty_dsn) == []


async def test_asking_what_is_pending_changes_nothing(empty_dsn: str) -> None:
    await pending(empty_dsn)
    connection = await asyncpg.connect(empty_dsn)
    tables = await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    await connection.close()
    assert tables == 0


async def test_two_processes_at_once_apply_every_migration_once(empty_dsn: str) -> None:
    command = (sys.executable, "-c", MIGRATE, empty_dsn)
    both = [await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE) for _ in range(2)]
    outputs = [(await process.communicate())[0].decode().split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(name for names in outputs for name in names) == ALL


async def test_a_database_that_cannot_be_reached_is_tried_again(empty_dsn: str) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    with pytest.raises(Retryable):
        await migrate(nowhere)
    with pytest.raises(Retryable):
        await connect(nowhere)
