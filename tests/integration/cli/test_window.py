"""`memstream window` shows and changes the context of a conversation."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from schemas.kafka import topics
from tests.builders.chat_events import message
from tests.command_line import Run, lines, run
from tests.deployment import Deployment, Event, eventually

PAGE = Path(__file__).parents[3] / "deploy" / "docs" / "windows.md"
PRUNED = "workbench-nina-report"
TALK = "talk-by-hand"
POLICY = {"name": "talks", "namespaces": ["talks"], "window": {"min_recent": 2, "prune_at_boundary": False}}


@pytest.fixture
def memstream(samples: Any, tmp_path: Path) -> Run:
    """Runs a command with the samples' settings."""
    return partial(run, samples.deployment.settings, tmp_path)


def test_show_prints_statistics_prunings_and_markers_of_a_pruned_context(memstream: Run):
    (window,) = lines(memstream("window", "show", PRUNED, "--json"))
    done = memstream("window", "show", PRUNED)
    assert (done.returncode, done.stderr) == (0, "")
    statistics, last = window["statistics"], window["prunings"][-1]
    assert done.stdout.startswith(f"{PRUNED}: {statistics['messages_in_context']} messages ({last['count']} pruned ")
    assert f"{statistics['messages_in_context']} of 70" in done.stdout
    assert f"{last['tokens_before']:,} -> {last['tokens_after']:,}" in done.stdout
    assert "strategy hybrid" in done.stdout
    assert "a task began" in done.stdout
    assert "It belonged to a completed task." in done.stdout
    assert all(gap["marker"] in done.stdout for gap in window["gaps"])


def test_show_as_json_has_named_fields(memstream: Run):
    (window,) = lines(memstream("window", "show", PRUNED, "--json"))
    assert (window["scope"]["conversation_id"], window["policy"], window["phase"]) == (PRUNED, "workbench", "ended")
    statistics = window["statistics"]
    assert statistics["messages_in_context"] + statistics["pruned_messages"] == statistics["total_messages"] == 70
    assert sum(gap["count"] for gap in window["gaps"]) == statistics["pruned_messages"]
    assert {pruning["cause"] for pruning in window["prunings"]} == {"boundary", "usage"}
    assert sum(pruning["count"] for pruning in window["prunings"]) == statistics["pruned_messages"]
    assert statistics["last_prune"]["removed"] == window["prunings"][-1]["count"]
    assert "completed_task" in {run["reason"] for pruning in window["prunings"] for run in pruning["removed"]}


async def test_the_documented_sql_query_returns_the_messages_in_context(memstream: Run, samples: Any):
    (window,) = lines(memstream("window", "show", PRUNED, "--json"))
    (statement,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found = await samples.deployment.fetch(statement, PRUNED)
    assert len(found) == window["statistics"]["messages_in_context"]
    assert found[0]["role"] == "system"


@pytest.mark.parametrize("action", ["show", "flush", "prune", "clear"])
def test_an_unknown_conversation_is_reported_in_one_line_with_a_hint(action: str, memstream: Run):
    done = memstream("window", action, "nobody-said-this")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "'nobody-said-this'" in done.stderr
    assert "check the id" in done.stderr


def said(number: int) -> Event:
    """Two tasks, told apart by what message 5 says."""
    text = "Next task: what is the capital of Norway?" if number == 5 else f"This is what was said as number {number}."
    return message(TALK, number, text, at=f"2026-11-01T10:00:{number:02}Z", role=("assistant", "user")[number % 2])


async def projected(deployment: Deployment, what: str, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Waits until the projected window is as expected, and returns it from PostgreSQL; `show` is tested above."""

    async def shown() -> dict[str, Any] | None:
        rows = await deployment.fetch("SELECT * FROM windows WHERE conversation_id = $1", TALK)
        return rows[0] if rows and holds(rows[0]) else None

    return await eventually(shown, what)


async def controls(deployment: Deployment) -> list[tuple[str, int, str]]:
    """Key, partition and kind of what was sent by hand, in order."""
    records = await deployment.records(topics.WINDOW_CONTROL)
    sent = [(record, json.loads(record.value)["kind"]) for record in records]
    return [
        (record.key.decode(), record.partition, kind)
        for record, kind in sent
        if kind in ("flush", "prune", "restore", "mark", "clear")
    ]


async def test_a_window_is_flushed_pruned_and_cleared_by_hand(deploy: Any, tmp_path: Path):
    (tmp_path / "policies.json").write_text(json.dumps([POLICY]))
    deployment = await deploy("by-hand", policies_file=tmp_path / "policies.json")
    memstream = partial(run, deployment.settings, tmp_path)
    await deployment.worker()
    await deployment.publish(*(said(number) for number in range(1, 9)))
    before = await projected(deployment, "all is there", lambda state: state["statistics"].get("total_messages") == 8)
    assert (before["extracted_to"], before["phase"]) == (0, "open")

    sent = memstream("window", "prune", TALK)
    assert (sent.returncode, sent.stdout.count("\n")) == (0, 1)
    assert sent.stdout.startswith(f"sent prune for {TALK} to partition {before['partition']} of ")
    state = await projected(deployment, "pruned by hand", lambda state: state["statistics"].get("pruned_messages", 0))
    rows = await deployment.fetch("SELECT cause FROM window_prunings WHERE conversation_id = $1", TALK)
    assert ([row["cause"] for row in rows], state["statistics"].get("pruned_messages", 0)) == (["manual"], 4)

    assert state["restorable"]["messages"] == 4
    assert memstream("window", "restore", TALK).returncode == 0
    await projected(deployment, "restored", lambda state: not state["statistics"].get("pruned_messages", 0))
    shown = memstream("window", "show", TALK).stdout
    assert "undone" in shown

    (confirmed,) = lines(memstream("window", "flush", TALK, "--json"))
    assert (confirmed["kind"], confirmed["partition"]) == ("flush", before["partition"])
    await projected(deployment, "all is extracted", lambda state: state["extracted_to"] == 8)

    (marked,) = lines(memstream("window", "mark", TALK, f"{TALK}-8", "pinned", "--json"))
    assert marked["kind"] == "mark"
    await projected(deployment, "marked", lambda state: "pinned" in str(state["adjustments"]))
    wrong = memstream("window", "mark", TALK, "m", "holy")
    assert (wrong.returncode, "pinned, important, expendable, normal" in wrong.stderr) == (2, True)

    assert memstream("window", "clear", TALK).returncode == 0
    state = await projected(deployment, "cleared", lambda state: state["cleared_at"])
    assert (state["statistics"].get("messages_in_context", 0), state["statistics"].get("pruned_messages", 0)) == (0, 8)

    sent_by_hand = [(TALK, before["partition"], kind) for kind in ("prune", "restore", "flush", "mark", "clear")]
    assert await controls(deployment) == sent_by_hand


async def test_clearing_an_expired_window_fails_and_publishes_no_control_record(deploy: Any, tmp_path: Path):
    (tmp_path / "policies.json").write_text(json.dumps([POLICY | {"grace_s": 0.5}]))
    deployment = await deploy("forgotten", policies_file=tmp_path / "policies.json")
    memstream = partial(run, deployment.settings, tmp_path)
    await deployment.worker()
    end = {"conversation_id": TALK, "timestamp": "2026-11-01T10:01:00Z", "message_count": 1}
    await deployment.publish(said(1))
    # Of a window that comes and goes between two turns of the projection nobody is told.
    await projected(deployment, "open", lambda state: state["phase"] == "open")
    await deployment.publish(Event(topics.ENDED, TALK, end))
    await projected(deployment, "forgotten", lambda state: state["phase"] == "forgotten")
    done = memstream("window", "clear", TALK)
    assert (done.returncode, done.stdout) == (1, "")
    assert "has expired" in done.stderr
    assert await controls(deployment) == []


def test_user_settings_are_stored_and_reset_to_the_policy_settings(memstream: Run):
    of = ("window", "user-settings", "nobody-yet", "--app-id", "workbench")
    assert memstream(*of).stdout == "nobody-yet chose: nothing; the policies' settings apply\n"
    (chosen,) = lines(memstream(*of, "--strategy", "rolling_window", "--max-messages", "30", "--json"))
    assert (chosen["chosen"], chosen["windows"]) == ({"strategy": "rolling_window", "max_messages": 30}, 0)
    assert memstream(*of).stdout == "nobody-yet chose: strategy rolling_window, max_messages 30\n"
    assert memstream("window", "user-settings", "nobody-yet").stdout.endswith("the policies' settings apply\n")
    assert lines(memstream(*of, "--reset", "--json"))[0]["chosen"] == {}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (["--max-messages", "0"], "max_messages is 0 and must lie within 1 and 1000"),
        (["--strategy", "newest"], "newest"),
        (["--reset", "--min-recent", "3"], "omit the others"),
    ],
)
def test_user_settings_that_no_policy_allows_are_rejected_in_one_line(memstream: Run, wrong: list[str], why: str):
    done = memstream("window", "user-settings", "nobody-yet", *wrong)
    assert (done.returncode, done.stderr.count("\n"), why in done.stderr) == (2, 1, True)
