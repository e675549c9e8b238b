"""`memstream demo`, twice on one directory: what it tells, and that it leaves nothing running."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from deploy.embedded.process import module_environment
from deploy.settings import PREFIX
from schemas.memories import Memory


def demo(data_dir: Path) -> dict[str, Any]:
    own = {name: value for name, value in module_environment().items() if not name.startswith(PREFIX)}
    done = subprocess.run(
        [sys.executable, "-m", "deploy.cli", "demo", "--json"],
        env=own | {f"{PREFIX}DATA_DIR": str(data_dir)},
        cwd=data_dir,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def pruned(context: dict[str, Any]) -> dict[str, Any]:
    """What became of the context, times aside."""
    window = context["window"]
    statistics = {name: value for name, value in window["statistics"].items() if name != "last_prune"}
    assert window["scope"]["conversation_id"] == "workbench-nina-report"
    assert context["headline"].startswith(f"{statistics['messages_in_context']} messages (")
    assert statistics["messages_in_context"] + statistics["pruned_messages"] == statistics["total_messages"] == 70
    assert statistics["percent_used"] < 80
    assert {pruning["cause"] for pruning in window["prunings"]} >= {"boundary", "usage"}
    largest = max(window["gaps"], key=lambda gap: gap["count"])
    assert {"role": "marker", "text": largest["marker"]} in context["around"]
    return {"statistics": statistics, "around": context["around"]}


def running_on(directory: Path) -> list[str]:
    """Command lines of processes that were started for this directory."""
    lines = []
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
        except psutil.Error:
            continue
        if str(directory) in line:
            lines.append(line)
    return lines


@pytest.mark.heavy
def test_the_demo_works_twice_and_stops_everything_it_started(tmp_path: Path):
    reports = [demo(tmp_path) for _ in range(2)]
    assert running_on(tmp_path) == []
    told = [{(memory["namespace"], memory["text"]) for memory in report["memories"]} for report in reports]
    assert told[0] == told[1]
    assert ("notes/tom", "User is allergic to peanuts.") in told[0]
    outcomes = {outcome["conversation_id"]: outcome for outcome in reports[1]["outcomes"]}
    assert outcomes["support-carlos-smalltalk"]["changes"] == {}
    assert outcomes["support-carlos-injection"]["changes"] == {}
    assert outcomes["notes-mara-light"]["changes"] == {"created": 1, "superseded": 1}
    assert outcomes["notes-tom-dinner"]["changes"] == {"reinforced": 1}
    assert outcomes["support-priya-late"]["slices"] == 2
    assert outcomes["notes-tom-race"]["slices"] == 1
    (context,) = reports[1]["contexts"]
    assert pruned(context) == pruned(reports[0]["contexts"][0])
    assert sorted(letter["reason"] for letter in reports[1]["dead_letters"]) == ["invalid", "undecodable"]
    assert "EXAMPLE" not in json.dumps(reports)
    assert all(0 < report["latency_p50_s"] <= report["latency_p95_s"] for report in reports)
    assert {"memory_id", "sources"} <= reports[0]["memories"][0].keys() <= set(Memory.__struct_fields__)
