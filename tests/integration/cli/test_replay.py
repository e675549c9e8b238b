"""`memstream replay`, `diff`, `cutover` and `generations` print their results on the samples and change nothing
live."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Run, lines, run_here

OTHER = """\
name: notes
match: {app_id: notes}
namespaces: ["{app_id}/{user_id}"]
kinds: [fact, preference, plan]
min_importance: 0.6
"""


@pytest.fixture
def memstream(samples: Any, tmp_path: Path) -> Run:
    return partial(run_here, samples.deployment.settings, tmp_path)


@pytest.mark.parametrize("source", ["archive", "kafka"])
def test_replaying_the_samples_unchanged_reproduces_their_memories(memstream: Run, source: str):
    (made,) = lines(memstream("replay", "--all", "--from", source, "--json"))
    assert (made["status"], made["conversations"], made["failed"]) == ("ready", made["done"], 0)
    try:
        assert {each["fate"] for each in lines(memstream("diff", made["generation"], "--json", "--all"))} == {"same"}
    finally:
        assert memstream("generations", "discard", made["generation"]).returncode == 0
    assert lines(memstream("generations", "list", "--json")) == []


def test_diff_shows_changes_of_a_replay_under_another_policy_with_their_messages(memstream: Run, tmp_path: Path):
    (tmp_path / "other.yaml").write_text(OTHER)
    said = memstream("replay", "-n", "notes/*", "--policy", "other.yaml").stdout
    generation = said.split()[1].rstrip(":")
    try:
        shown = memstream("diff", generation).stdout
        assert "lost" in shown
        assert "notes-tom-race-01" in shown
        assert shown.splitlines()[-1].endswith("same")
        differences = lines(memstream("diff", generation, "--json", "-n", "notes/tom"))
        lost = next(each for each in differences if each["fate"] == "lost")
        assert lost["before"]["sources"]
        assert lost["namespace"] == "notes/tom"
        listed = memstream("generations", "list").stdout
        assert f"{generation}" in listed
        assert "policy notes" in " ".join(listed.split())
    finally:
        memstream("generations", "discard", generation)


@pytest.mark.parametrize(
    ("code", "arguments", "error"),
    [
        (2, ("replay",), "select what to replay"),
        (2, ("replay", "-n", "", "--since", "7d"), "--namespace is empty"),
        (2, ("replay", "--since", "1d", "--until", "2d"), "is not before"),
        (2, ("replay", "--all", "--from", "memory"), "archive or kafka"),
        (1, ("replay", "--all", "--model", "x"), "no models to choose from"),
        (2, ("replay", "--resume", "00000000", "--all"), "omit all others"),
        (1, ("replay", "--resume", "00000000"), "no generation '00000000'"),
        (1, ("diff", "00000000"), "no generation '00000000'"),
        (1, ("cutover", "00000000"), "no generation '00000000'"),
        (1, ("generations", "discard", "00000000"), "no generation '00000000'"),
    ],
)
def test_invalid_arguments_produce_an_error_message_and_a_failing_exit_code(
    memstream: Run, code: int, arguments: tuple[str, ...], error: str
):
    done = memstream(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert error in done.stderr


def test_a_replay_with_an_unavailable_provider_makes_no_generation(memstream: Run):
    before = memstream("generations", "list").stdout
    done = memstream("replay", "--all", "--provider", "ollama", ollama_base_url="http://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "127.0.0.1:1" in done.stderr
    assert memstream("generations", "list").stdout == before
