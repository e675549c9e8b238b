"""`memstream consolidate` and `memstream runs` request and show runs."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.consolidation.requests import manual_run
from schemas.consolidation.runs import Counts, Finding, RunRequest
from schemas.conversations.messages import Scope
from sinks.consolidation.dry_runs import ConversationRange, DryRuns
from sinks.consolidation.runs import Runs
from sinks.postgres.connection import connect
from tests.command_line import Run, lines, run

AT = datetime(2026, 3, 3, 2, tzinfo=UTC)


@pytest.fixture
async def memstream(deploy: Callable[..., Awaitable[Any]], tmp_path: Path) -> Run:
    """Runs a command beside a dry run that is over, and found two things."""
    deployment = await deploy("runs")
    pool = await connect(deployment.settings.postgres_dsn.get_secret_value())
    dry = manual_run(RunRequest(namespace="app/ada", dry_run=True), ("app/ada",), "ada", AT)
    await Runs(pool).add(dry)
    await pool.execute("UPDATE consolidation_runs SET run_id = 'dry', status = 'running', conversations = 1")
    await pool.execute("INSERT INTO consolidation_conversations VALUES ('dry', 'c', 3, 1, 2)")
    made = {"namespace": "app/ada", "conversation_id": "c", "kind": "fact", "message_ids": ("m1",)}
    findings = (
        Finding(**made, result="created", text="User has a dog."),  # type: ignore[arg-type]
        Finding(**made, result="superseded", text="User moved to Lisbon."),  # type: ignore[arg-type]
    )
    counts = Counts(requests=1, created=1, superseded=1, providers=("offline",), models=("rules-3",))
    stretch = ConversationRange(Scope(conversation_id="c"), 3, 1, 2)
    await DryRuns(pool).store("dry", stretch, findings, counts, ["r"], AT)
    await DryRuns(pool).finish("dry", AT)
    await pool.execute("INSERT INTO consolidation_schedules VALUES ('nightly', $1, $2)", {"at": "02:00"}, AT)
    await pool.close()
    return partial(run, deployment.settings, tmp_path)


async def test_a_requested_run_is_listed_and_shown(memstream: Run):
    (run,) = lines(memstream("consolidate", "-n", "app/ada", "--live", "--no-wait", "--json"))
    assert (run["status"], run["scope"], run["lane"]) == ("pending", "namespace app/ada", "live")
    newest, oldest = lines(memstream("runs", "list", "--json"))
    assert (newest["run_id"], oldest["run_id"]) == (run["run_id"], "dry")
    (found,) = lines(memstream("runs", "list", "--json", "--status", "completed", "-n", "app/ada"))
    assert (found["run_id"], found["processed"], found["created"]) == ("dry", 1, 1)
    shown = memstream("runs", "list").stdout
    assert "dry run" in shown and "1 of 1" in shown and "+1 =0 -1" in shown
    assert run["run_id"] in shown, "on one line, to be copied"


async def test_a_dry_run_is_shown_with_its_findings(memstream: Run):
    done = memstream("runs", "show", "dry")
    shown = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert (
        "candidates 1 would be created, 0 would be reinforced, 0 would be merged, 1 would be superseded, 0 would be dropped"
        in shown
    )
    assert "models offline (rules-3): 0 tokens, $0.0000" in shown
    assert "created app/ada: fact: User has a dog." in shown
    assert "superseded app/ada: fact: User moved to Lisbon." in shown
    findings = lines(memstream("runs", "show", "dry", "--json"))
    assert [each.get("text") for each in findings] == [None, "User has a dog.", "User moved to Lisbon."]


async def test_upcoming_scheduled_runs_are_listed(memstream: Run):
    done = memstream("runs", "next")
    assert "nightly 2026-03-03 02:00 02:00 UTC, every day" in [
        " ".join(line.split()) for line in done.stdout.splitlines()
    ]
    (scheduled,) = lines(memstream("runs", "next", "--json"))
    assert (scheduled["policy"], scheduled["schedule"]) == ("nightly", {"at": "02:00"})


async def test_an_unknown_policy_is_refused_with_the_known_ones_and_stores_no_run(
    deploy: Callable[..., Awaitable[Any]], tmp_path: Path
):
    (tmp_path / "policies.json").write_text('[{"name": "kitchen"}, {"name": "silent", "extract": false}]')
    deployment = await deploy("policies", policies_file=tmp_path / "policies.json")
    memstream = partial(run, deployment.settings, tmp_path)
    for name, why in (("kitchn", "the policies are kitchen, silent"), ("silent", "extracts nothing")):
        done = memstream("consolidate", "--policy", name)
        (error,) = (line for line in done.stderr.splitlines() if line.startswith("memstream: "))
        assert (done.returncode, done.stdout, why in error) == (1, "", True)
    (asked,) = lines(memstream("consolidate", "--policy", "kitchen", "--no-wait", "--json"))
    assert [each["run_id"] for each in lines(memstream("runs", "list", "--json"))] == [asked["run_id"]]


@pytest.mark.parametrize(
    ("code", "words", "says"),
    [
        (1, ("runs", "show", "nobody's"), "there is no run"),
        (2, ("runs", "list", "--status", "over"), "pending, running, completed or failed"),
        (2, ("consolidate", "--policy", "p", "-n", "n"), "not several"),
        (2, ("consolidate", "--most", "3"), "for a dry_run only"),
    ],
)
async def test_invalid_arguments_produce_a_one_line_error(memstream: Run, code: int, words: tuple[str, ...], says: str):
    done = memstream(*words)
    assert done.returncode == code and says in done.stderr and len(done.stderr.splitlines()) == 1
