import asyncpg
import pytest

from schemas.errors import Misconfigured, Rejected, Retryable
from sinks.postgres.connection import SESSION, Pool, connect, translated


async def test_a_connection_that_the_server_ends_is_retryable(pool: Pool) -> None:
    with pytest.raises(Retryable), translated("testing"):
        await pool.execute("SELECT pg_terminate_backend(pg_backend_pid())")


async def test_a_statement_timeout_is_retryable(dsn: str) -> None:
    slow = await connect(dsn, command_timeout_s=0.05)
    with pytest.raises(Retryable), translated("testing"):
        await slow.execute("SELECT pg_sleep(30)")
    await slow.close()


async def test_a_deadlock_is_retryable(pool: Pool) -> None:
    with pytest.raises(Retryable), translated("testing"):
        await pool.execute("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$")


async def test_a_pool_writes_again_once_a_read_only_database_is_writable(dsn: str) -> None:
    async with await connect(dsn) as operator:
        name = await operator.fetchval("SELECT current_database()")
        await operator.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        async with await connect(dsn, max_size=1) as pool:
            for _ in range(2):
                with pytest.raises(Retryable, match="read-only"), translated("testing"):
                    await pool.execute("CREATE TABLE written ()")
            async with pool.acquire() as connection:
                assert await connection.fetchval("SHOW transaction_read_only") == "on"
                await operator.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
            await pool.execute("CREATE TABLE written ()")


async def test_a_table_that_a_migration_changes_is_retryable_in_a_transaction(pool: Pool, dsn: str) -> None:
    async with await connect(dsn) as migrating, pool.acquire() as connection:
        await connection.fetch("SELECT * FROM memories")
        await migrating.execute("ALTER TABLE memories ADD COLUMN added text")
        with pytest.raises(Retryable), translated("testing"):
            async with connection.transaction():
                await connection.fetch("SELECT * FROM memories")
        async with connection.transaction():
            assert await connection.fetch("SELECT * FROM memories") == []


async def test_a_closed_pool_is_retryable(dsn: str) -> None:
    pool = await connect(dsn)
    await pool.close()
    with pytest.raises(Retryable), translated("testing"):
        await pool.execute("SELECT 1")


async def test_an_unstorable_value_is_rejected(pool: Pool) -> None:
    with pytest.raises(Rejected, match="unstorable"), translated("testing"):
        await pool.fetchval("SELECT $1::integer", 2**40)


async def test_a_database_without_tables_is_misconfigured_and_the_remedy_is_named(empty_dsn: str) -> None:
    pool = await connect(empty_dsn)
    with pytest.raises(Misconfigured, match="memstream migrate"), translated("testing"):
        await pool.fetch("SELECT * FROM memories")
    await pool.close()


async def test_a_programming_error_is_not_translated(pool: Pool) -> None:
    with pytest.raises(asyncpg.InterfaceError), translated("testing"):
        await pool.fetchval("SELECT $1::integer")


@pytest.mark.parametrize("text", ["NUL \x00", "\\u0000", "\\\x00", "\\\\u0000\x00", '"\x00"', "🙂"])
async def test_text_and_json_are_read_back_unchanged_except_for_nul_characters(pool: Pool, text: str) -> None:
    stored = text.replace("\x00", "\ufffd")
    assert await pool.fetchval("SELECT $1::text", text) == stored
    assert await pool.fetchval("SELECT $1::jsonb", {text: [text]}) == {stored: [stored]}


async def test_an_unfinished_transaction_is_rolled_back_when_its_connection_returns_to_the_pool(dsn: str) -> None:
    pool = await connect(dsn, max_size=1)
    async with pool.acquire() as connection:
        await connection.execute("BEGIN; SET LOCAL statement_timeout = '54321s'; CREATE TABLE left_behind ()")
    assert await pool.fetchval("SELECT to_regclass('left_behind')") is None
    assert await pool.fetchval("SHOW statement_timeout") == "0"
    await pool.close()


async def test_session_settings_detect_dead_peers_and_disable_jit(pool: Pool) -> None:
    rows = await pool.fetch("SELECT name, reset_val FROM pg_settings WHERE source = 'client'")
    assert SESSION.items() <= {row["name"]: row["reset_val"] for row in rows}.items()
