"""The window projection on PostgreSQL: concurrent writers, failures between statements, columns and indexes for
operators."""

import asyncio
import random
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from deploy.cli.doctor import split_conversations
from deploy.settings import load
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap
from schemas.errors import Retryable
from sinks.metrics.stored_counts import stored_counts
from sinks.postgres.connection import Connection, Pool, connect
from sinks.postgres.queries import query
from sinks.windows.projection import Windows
from tests.deployment import eventually
from tests.fakes.windows import AT_S, a_pruning, a_state

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MANY = 1_000


@pytest.fixture
def windows(pool: Pool) -> Windows:
    return Windows(pool)


async def waiting_for_a_lock(pool: Pool, count: int = 1) -> None:
    """Returns when so many other connections to this database wait for a row."""
    waiting = (
        "SELECT count(*) = $1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    await eventually(lambda: pool.fetchval(waiting, count), f"{count} waiting for a lock", within_s=30)


async def test_projecting_a_thousand_states_in_one_call_is_idempotent(windows: Windows, pool: Pool) -> None:
    states = [a_state(f"c{n}", n, gaps=(Gap(1, 8, 8, 90),), prunings=(a_pruning(n),)) for n in range(MANY)]
    await windows.project(states)
    await windows.project(states[::-1])
    counts = "SELECT (SELECT count(*) FROM windows), (SELECT count(*) FROM window_prunings)"
    assert tuple(await pool.fetchrow(counts) or ()) == (MANY, MANY)
    for n in (0, 500, MANY - 1):
        assert await windows.of(f"c{n}") == states[n]


async def test_a_thousand_windows_are_forgotten_in_one_call(windows: Windows, pool: Pool) -> None:
    await windows.project([a_state(f"c{n}", n) for n in range(MANY)])
    await windows.forget([f"c{n}" for n in range(2 * MANY)], 3, "changelog", 499, NOON)
    assert await pool.fetchval("SELECT count(*) FROM windows WHERE phase = 'forgotten'") == 500
    assert (
        await pool.fetchval("SELECT count(*) FROM windows WHERE phase = 'forgotten' AND updated_at = $1", NOON) == 500
    )


async def test_workers_that_project_and_forget_the_same_windows_in_any_order_do_not_deadlock(
    windows: Windows, pool: Pool
) -> None:
    async def work(seed: int) -> None:
        rng = random.Random(seed)
        for revision in rng.sample(range(100), 5):
            ids = rng.sample([f"c{n}" for n in range(200)], 150)
            pruned = (a_pruning(revision),)
            if seed % 3 == 0:
                await windows.forget(ids, 3, "changelog", revision, NOON)
            elif seed % 3 == 1:
                await windows.forget_older(f"changelog {seed}", 3, revision, NOON)
            else:
                await windows.project(
                    [a_state(each, revision, partition=p, prunings=pruned) for each in ids for p in (3, 2)]
                )

    await windows.project([a_state(f"c{n}", 0, partition=partition) for n in range(200) for partition in (2, 3)])
    await asyncio.gather(*map(work, range(8)))
    assert await pool.fetchval("SELECT count(*) FROM windows") == 400


async def test_the_newest_of_several_concurrent_states_is_kept(windows: Windows) -> None:
    revisions = random.Random(1).sample(range(40), 40)
    await asyncio.gather(*(windows.project([a_state("c", each), a_state(f"c{each}")]) for each in revisions))
    assert await windows.of("c") == a_state("c", 39)


async def test_a_state_waiting_for_a_newer_one_to_commit_does_not_overwrite_it(
    windows: Windows, pool: Pool, slow: Connection
) -> None:
    await windows.project([a_state("c", 1)])
    await slow.execute("UPDATE windows SET revision = 9, policy = 'newer'")
    late = asyncio.create_task(windows.project([a_state("c", 8, prunings=(a_pruning(),))]))
    forgetting = asyncio.create_task(windows.forget(["c"], 3, "changelog", 8, NOON))
    await waiting_for_a_lock(pool, 2)
    await slow.execute("COMMIT")
    await asyncio.gather(late, forgetting)
    found = await windows.of("c")
    assert found and (found.revision, found.policy, found.phase, len(found.prunings)) == (9, "newer", "open", 1)


async def test_a_window_updated_concurrently_is_forgotten_in_its_committed_version(
    windows: Windows, pool: Pool, slow: Connection
) -> None:
    await windows.project([a_state("c", 1)])
    await slow.execute("UPDATE windows SET revision = 5, policy = 'newer'")
    forgetting = asyncio.create_task(windows.forget(["c"], 3, "changelog", 6, NOON))
    await waiting_for_a_lock(pool)
    await slow.execute("COMMIT")
    await forgetting
    found = await windows.of("c")
    assert found and (found.revision, found.policy, found.phase) == (6, "newer", "forgotten")


async def test_a_row_deleted_while_a_state_waits_for_it_is_inserted_again(
    windows: Windows, pool: Pool, slow: Connection
) -> None:
    await windows.project([a_state("c", 9, prunings=(a_pruning(1),))])
    await slow.execute("DELETE FROM windows")
    projecting = asyncio.create_task(windows.project([state := a_state("c", 1, prunings=(a_pruning(2),))]))
    await waiting_for_a_lock(pool)
    await slow.execute("COMMIT")
    await projecting
    assert await windows.of("c") == state


async def test_states_and_prunings_are_stored_together_or_not_at_all(windows: Windows, pool: Pool) -> None:
    await windows.project([first := a_state("c", 1)])
    await pool.execute("ALTER TABLE window_prunings ADD CONSTRAINT none CHECK (false)")
    with pytest.raises(Exception, match="none"):
        await windows.project([a_state("c", 2, prunings=(a_pruning(),)), a_state("d", 2)])
    assert await windows.of("c") == first
    assert await windows.of("d") is None


async def test_a_closed_database_pool_is_retryable(dsn: str) -> None:
    windows = Windows(pool := await connect(dsn))
    await pool.close()
    for call in (windows.project([a_state()]), windows.forget(["c"], 3, "s", 1, NOON), windows.of("c")):
        with pytest.raises(Retryable):
            await call


async def test_deleting_a_window_deletes_its_prunings(windows: Windows, pool: Pool) -> None:
    await windows.project([a_state("c", prunings=(a_pruning(),)), a_state("d", prunings=(a_pruning(),))])
    await pool.execute("DELETE FROM windows WHERE conversation_id = 'c'")
    assert await windows.prunings("c") == ()
    assert await windows.prunings("d") == (a_pruning(),)


async def test_deleting_one_of_two_windows_of_a_conversation_leaves_the_prunings_of_the_other(
    windows: Windows, pool: Pool
) -> None:
    await windows.project([a_state("c", partition=p, prunings=(a_pruning(p),)) for p in (2, 3)])
    await pool.execute("DELETE FROM windows WHERE conversation_id = 'c' AND partition = 3")
    assert await windows.of("c") == a_state("c", partition=2, prunings=(a_pruning(2),))


async def test_scope_times_and_causes_are_stored_in_their_own_columns(windows: Windows, pool: Pool) -> None:
    scope = Scope(conversation_id="c", tenant_id="t", app_id="a", user_id="u", agent_id="g", mode="m")
    await windows.project([a_state(scope=scope, model="claude", cleared_at=AT_S, extracted_to=7)])
    await windows.project([a_state("d"), a_state("c", 0, prunings=(a_pruning(),))])
    found = await pool.fetchrow(
        "SELECT tenant_id, app_id, user_id, agent_id, mode, partition, policy, model, phase, extracted_to, cleared_at"
        " FROM windows WHERE cleared_at < now() AND updated_at <= clock_timestamp()"
    )
    cleared_at = datetime.fromtimestamp(AT_S, UTC)
    assert tuple(found or ()) == ("t", "a", "u", "g", "m", 3, "default", "claude", "open", 7, cleared_at)
    pruned = await pool.fetchrow("SELECT at, cause, tokens_before - tokens_after FROM window_prunings")
    assert tuple(pruned or ()) == (datetime.fromtimestamp(AT_S + 60, UTC), "usage", 300)


@pytest.mark.parametrize("column", ["user_id", "app_id"])
async def test_windows_of_one_user_or_one_app_are_found_by_an_index(windows: Windows, pool: Pool, column: str) -> None:
    await windows.project(
        [a_state(scope=Scope(conversation_id=f"c{n}", app_id=f"{n}", user_id=f"{n}")) for n in range(MANY)]
    )
    await pool.execute("ANALYZE windows")
    plan = await pool.fetch(f"EXPLAIN DELETE FROM windows WHERE {column} = '7'")
    assert f"windows_by_{column.removesuffix('_id')}" in "\n".join(line[0] for line in plan)


async def test_a_conversation_and_its_prunings_are_found_by_an_index_without_the_partition(
    windows: Windows, pool: Pool
) -> None:
    await windows.project([a_state(f"c{n}", prunings=(a_pruning(),)) for n in range(MANY)])
    await pool.execute("ANALYZE windows, window_prunings")
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        plan = await connection.fetch(f"EXPLAIN {query('windows', 'of')}", "c7", 20, None, None)
    found = "\n".join(line[0] for line in plan)
    assert "windows_pkey" in found
    assert "window_prunings_pkey" in found
    assert "Seq Scan" not in found


async def test_the_longest_identifiers_fit_the_indexes(windows: Windows) -> None:
    rng = random.Random(1)

    def longest() -> str:  # random, as an index entry is compressed
        return "".join(chr(rng.randint(0x10000, 0x1FFFF)) for _ in range(256))

    scope = Scope(conversation_id=longest(), app_id=longest(), user_id=longest(), tenant_id=longest())
    await windows.project([state := a_state(scope=scope, prunings=(a_pruning(),))])
    assert await windows.of(scope.conversation_id) == state


async def test_times_are_kept_to_the_microsecond(windows: Windows) -> None:
    rng = random.Random(1)
    # Until 2096: floats of later Unix seconds lie further apart than microseconds.
    moments = [datetime.fromtimestamp(rng.uniform(0, 4e9), UTC).timestamp() for _ in range(MANY)]
    prunings = tuple(a_pruning(number, at) for number, at in enumerate(moments))
    await windows.project([a_state(f"c{n}", cleared_at=at) for n, at in enumerate(moments)])
    await windows.project([a_state("c", prunings=prunings)])
    assert await windows.prunings("c", MANY) == tuple(sorted(prunings, key=lambda each: -each.at))
    for n in range(0, MANY, 100):
        assert await windows.of(f"c{n}") == a_state(f"c{n}", cleared_at=moments[n])


async def test_a_pruning_with_a_sub_microsecond_timestamp_is_stored_once_however_often_projected(
    windows: Windows,
) -> None:
    between = a_pruning(1, AT_S + 0.0000004)
    for _ in range(2):
        await windows.project([a_state(prunings=(between,))])
    assert await windows.prunings("c") == (replace(between, at=AT_S),)


async def test_conversations_with_active_windows_in_several_partitions_are_counted(
    windows: Windows, pool: Pool, dsn: str
) -> None:
    settings = load(postgres_dsn=dsn)
    await windows.project([a_state("a"), a_state("b"), a_state("b", partition=7)])
    await windows.forget(["b"], 7, "changelog", 1, NOON)
    assert await split_conversations(settings) == "each conversation is in one partition"
    await windows.project([a_state(name, partition=partition) for name in ("c", "d") for partition in (9, 4)])
    told = await split_conversations(settings)
    assert told.startswith(
        "2 conversations in several partitions, such as 'c' in 4 and 9: unless partitions were added, let"
    )
    assert (await stored_counts(pool)).split_conversations == 2
