import asyncio
import shutil
import sys
from pathlib import Path

import asyncpg
import pytest

from schemas.errors import Retryable
from sinks.postgres.connection import connect
from sinks.postgres.migrate import MIGRATIONS, migrate, pending

ALL = sorted(path.stem for path in MIGRATIONS.glob("*.sql"))
ROOT = Path(__file__).parents[3]
MIGRATE = "import asyncio, sys; from sinks.postgres.migrate import migrate; print(*asyncio.run(migrate(sys.argv[1])))"


async def test_migrating_twice_applies_everything_once(empty_dsn: str) -> None:
    assert await pending(empty_dsn) == ALL
    assert await migrate(empty_dsn) == ALL
    assert await migrate(empty_dsn) == []
    assert await pending(empty_dsn) == []


async def test_listing_pending_migrations_changes_nothing(empty_dsn: str) -> None:
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


async def test_a_migration_removes_the_details_of_reported_failures(
    empty_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in MIGRATIONS.glob("*.sql"):
        if path.stem < "022":
            shutil.copy(path, tmp_path)
    with monkeypatch.context() as before:
        before.setattr("sinks.postgres.migrate.MIGRATIONS", tmp_path)
        await migrate(empty_dsn)
    connection = await asyncpg.connect(empty_dsn)
    columns = "(request_id, conversation_id, partition, policy, policy_version, failed_at, failed_reason)"
    await connection.execute(
        f"INSERT INTO extractions {columns} VALUES ('told', 'c', 0, 'p', 1, now(), 'refused: Zanzibar: no topic'),"
        " ('untold', 'c', 0, 'p', 1, NULL, 'refused: not yet told')"
    )
    await migrate(empty_dsn)
    kept = await connection.fetch("SELECT request_id, failed_reason FROM extractions")
    await connection.close()
    assert dict(map(tuple, kept)) == {"told": "refused", "untold": "refused: not yet told"}


async def test_an_unreachable_database_is_retryable(empty_dsn: str) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    with pytest.raises(Retryable):
        await migrate(nowhere)
    with pytest.raises(Retryable):
        await connect(nowhere)
