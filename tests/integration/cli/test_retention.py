"""`memstream retention` prints the numbers of sweeps."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sinks.postgres.connection import connect
from tests.command_line import lines, run

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


async def test_the_latest_sweep_is_shown_with_the_messages_kept_by_each_policy(
    deploy: Callable[..., Awaitable[Any]], tmp_path: Path
):
    deployment = await deploy("retention")
    none = run(deployment.settings, tmp_path, "retention", "--last")
    assert none.returncode == 1 and "there was no sweep yet" in none.stderr
    pool = await connect(deployment.settings.postgres_dsn.get_secret_value())
    kept = {"policy": "agent", "days": 30, "messages": 1_234, "bytes": 5_678, "oldest": NOON, "held": 3}
    await pool.execute(
        "INSERT INTO retention_sweeps (sweep_id, trigger, status, dry_run, asked_by, created_at, policies, usage)"
        " VALUES ('s', 'schedule', 'completed', false, 'retention', $1, $2, 7)",
        *(NOON, [kept | {"pruned": 9, "pruned_bytes": 90}]),
    )
    await pool.close()
    done = run(deployment.settings, tmp_path, "retention", "--last")
    shown = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "agent 30 1,234 5,678 2026-06-01 3 9 90" in shown
    assert "7 records of model calls and 0 of prunings deleted" in shown
    (report,) = lines(run(deployment.settings, tmp_path, "retention", "--last", "--json"))
    assert (report["status"], report["policies"][0]["held"]) == ("completed", 3)
