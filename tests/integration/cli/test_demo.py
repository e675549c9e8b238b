"""`memstream demo` run twice in one directory prints its results and leaves no process running."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from deploy.embedded.process import module_environment
from deploy.settings.defaults import PREFIX
from schemas.memories.memories import Memory

ROOT = Path(__file__).parents[3]


def run(data_dir: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The demo, with none of the variables that the tests may run with."""
    inherited = {
        name: value for name, value in module_environment().items() if not name.startswith((PREFIX, "ANTHROPIC_"))
    }
    own = {f"{PREFIX}DATA_DIR": str(data_dir)}
    return subprocess.run(
        [sys.executable, "-m", "deploy.cli.main", "demo", "--json", *args],
        env=inherited | own | variables,
        cwd=data_dir,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def demo(data_dir: Path, *args: str, **variables: str) -> dict[str, Any]:
    done = run(data_dir, *args, **variables)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@contextmanager
def messages_server() -> Iterator[dict[str, str]]:
    """The local Messages server as a process of its own, as README.md has it started: the variables that it prints."""
    command = [sys.executable, "-m", "tests.servers.messages"]
    process = subprocess.Popen(command, cwd=ROOT, env=module_environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        printed = process.stdout.readline()
        yield dict(word.split("=", 1) for word in printed.removeprefix("export ").split())
    finally:
        process.terminate()
        process.communicate(timeout=10)


def pruned(context: dict[str, Any]) -> dict[str, Any]:
    """Returns the outcome of the context, without times."""
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
def test_the_demo_runs_twice_with_the_same_memories_and_stops_its_processes(tmp_path: Path):
    reports = [demo(tmp_path) for _ in range(2)]
    assert running_on(tmp_path) == []
    # Which memory of the full namespace goes depends on which came last.
    memories = [
        {(memory["namespace"], memory["text"]) for memory in report["memories"] if memory["namespace"] != "support"}
        for report in reports
    ]
    assert memories[0] == memories[1]
    assert ("notes/tom", "User is allergic to peanuts.") in memories[0]
    outcomes = {outcome["conversation_id"]: outcome for outcome in reports[1]["outcomes"]}
    assert outcomes["support-carlos-smalltalk"]["changes"] == {}
    assert outcomes["support-carlos-injection"]["changes"] == {}
    assert outcomes["notes-mara-light"]["changes"] == {"created": 1, "superseded": 1}
    assert outcomes["notes-tom-dinner"]["changes"] == {"created": 1, "reinforced": 1}
    for report in reports:
        changes = {event["data"]["change"] for event in report["events"]}
        assert {"created", "reinforced", "superseded", "compacted"} <= changes
    assert outcomes["support-priya-late"]["slices"] == 2
    assert outcomes["notes-tom-race"]["slices"] == 1
    for report in reports:
        assert [(answer["message_id"], answer["memory_ids"]) for answer in report["answers"]] == [
            ("notes-mara-book-02", []),
            ("notes-tom-race-04", []),
        ]
    (context,) = reports[1]["contexts"]
    assert pruned(context) == pruned(reports[0]["contexts"][0])
    assert sorted(letter["reason"] for letter in reports[1]["dead_letters"]) == ["invalid", "undecodable"]
    assert "EXAMPLE" not in json.dumps(reports)
    assert all(0 < report["latency_p50_s"] <= report["latency_p95_s"] for report in reports)
    assert {"memory_id", "sources"} <= reports[0]["memories"][0].keys() <= set(Memory.__struct_fields__)


@pytest.mark.heavy
def test_the_demo_works_with_claude_at_the_local_messages_server(tmp_path: Path):
    with messages_server() as variables:
        assert set(variables) == {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
        report = demo(tmp_path, "--provider", "claude", **variables)
    memories = [(memory["namespace"], memory["text"]) for memory in report["memories"]]
    assert ("notes/tom", "User is allergic to peanuts.") in memories
    outcomes = {outcome["conversation_id"]: outcome for outcome in report["outcomes"]}
    assert outcomes["support-carlos-injection"]["changes"] == {}
    assert outcomes["notes-mara-light"]["changes"] == {"created": 1, "superseded": 1}
    slices = sum(outcome["slices"] for outcome in report["outcomes"])
    calls = {row["operation"]: row for row in report["model_calls"]}
    assert {(operation, row["provider"]) for operation, row in calls.items()} == {
        ("extract", "claude"),
        ("compact", "claude"),
    }
    assert 0 < calls["extract"]["calls"] <= slices  # short slices of one person share calls
    assert calls["compact"]["calls"] == 2
    assert calls["extract"]["input_tokens"] > calls["extract"]["cached_tokens"] > 0
    assert "EXAMPLE" not in json.dumps(report)
    assert running_on(tmp_path) == []


def test_the_demo_without_an_anthropic_key_prints_one_error_line_and_starts_nothing(tmp_path: Path):
    # The SDK looks for credentials at home as well.
    done = run(tmp_path, "--provider", "claude", HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1 and "ANTHROPIC_API_KEY" in done.stderr
    assert list(tmp_path.rglob("*.log")) == []
