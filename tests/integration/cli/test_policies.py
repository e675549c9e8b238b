"""`memstream policies` on a cluster: put, list, show, delete, and errors of invalid files."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from deploy.cli import doctor
from deploy.cli.doctor import CheckFailed
from deploy.cli.main import cli
from deploy.runtime.dev import environment
from schemas.kafka import topics
from tests.deployment import Event, eventually

FILE = "name: notes\nmatch: {app_id: notes}\nmax_text_chars: 90\nkinds: [fact, {name: pet, icon: 🐕}]\n"

Policies = Callable[..., Awaitable[Result]]


def policies_of(settings: Any) -> Policies:
    return partial(commands_of(settings), "policies")


def commands_of(settings: Any) -> Policies:
    """Commands run here and not in processes of their own, each of which would import everything anew."""

    async def memstream(*args: str) -> Result:
        """In a thread, as a command runs a loop of its own."""
        return await asyncio.to_thread(CliRunner().invoke, cli, list(args), env=environment(settings))

    return memstream


def lines(done: Result) -> list[dict[str, Any]]:
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


async def test_policies_are_put_shown_changed_and_deleted(deploy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.yaml").write_text(FILE)
    (tmp_path / "own.yaml").write_text("name: own\nmatch: {mode: own}\n")
    deployment = await deploy("policy-files", policies_file=tmp_path / "own.yaml")
    policies = policies_of(deployment.settings)

    done = await policies("put", "notes.yaml")
    assert (done.exit_code, done.stdout) == (0, "created notes, version 1\n")
    shown = (await policies("show", "notes")).stdout
    assert shown.splitlines()[:2] == ["name: notes", "version: 1"]
    (tmp_path / "shown.yaml").write_text(shown)
    assert (await policies("put", "shown.yaml")).stdout == "unchanged notes, version 1\n"
    (tmp_path / "shown.yaml").write_text(shown.replace("90", "80"))
    assert lines(await policies("put", "shown.yaml", "--json")) == [
        {"name": "notes", "version": 2, "result": "changed"}
    ]
    assert (await policies("put", "shown.yaml")).stdout == "unchanged notes, version 2\n"
    (tmp_path / "shown.yaml").write_text(shown.replace("90", "70"))
    done = await policies("put", "shown.yaml")
    assert done.exit_code == 1 and "is at 2 now" in done.stderr

    kitchen = await policies("put", "--preset", "app-notes", "--name", "kitchen", "--match", "app_id=kitchen", "--json")
    assert lines(kitchen) == [{"name": "kitchen", "version": 1, "result": "created"}]
    order = [(each["name"], each["version"], each["origin"]) for each in lines(await policies("list", "--json"))]
    assert order == [("kitchen", 1, "topic"), ("notes", 2, "topic"), ("own", 1, "file"), ("default", 1, "built in")]
    assert "app_id=kitchen" in (await policies("list")).stdout

    assert (await policies("delete", "notes")).stdout == "deleted notes, which was at version 2\n"
    done = await policies("delete", "notes")
    assert done.exit_code == 1 and "the topic has no policy 'notes'; it has kitchen" in done.stderr
    values = [(record.key, record.value is None) for record in await deployment.records(topics.POLICIES)]
    assert values == [(b"notes", False), (b"notes", False), (b"kitchen", False), (b"notes", True)]


async def test_an_ignored_policy_record_is_reported_by_list_and_doctor_until_a_valid_one_follows(deploy: Any):
    deployment = await deploy("spoiled")
    policies = policies_of(deployment.settings)
    await deployment.publish(Event(topics.POLICIES, "notes", {"name": "notes", "max_text_chars": 3}))
    listed = await policies("list")
    assert listed.exit_code == 0 and "default" in listed.stdout
    assert "a record of 'notes' at offset 0 is ignored" in listed.stderr and "max_text_chars" in listed.stderr
    with pytest.raises(CheckFailed, match=r"max_text_chars.*: put a valid one with .*, or delete it"):
        await doctor.policies(deployment.settings)
    await deployment.publish(Event(topics.POLICIES, "notes", {"name": "notes", "version": 2}))
    assert await doctor.policies(deployment.settings) == "notes (version 2)"


async def test_a_record_that_is_no_valid_policy_can_be_deleted(deploy: Any):
    deployment = await deploy("unwanted")
    policies = policies_of(deployment.settings)
    await deployment.publish(Event(topics.POLICIES, "notes", {"max_text_chars": 3}))
    done = await policies("delete", "notes")
    assert (done.exit_code, done.stdout) == (0, "deleted the invalid record of notes\n")
    assert "notes" not in await doctor.policies(deployment.settings)
    assert (await policies("delete", "notes")).exit_code == 1


async def test_list_without_the_policies_topic_explains_how_to_create_it(deploy: Any):
    deployment = await deploy("topicless")
    done = await policies_of(deployment.settings.model_copy(update={"topic_prefix": "nowhere."}))("list")
    assert done.exit_code == 1 and "run `memstream topics create`" in done.stderr


def test_check_reports_each_error_of_a_policy_file_on_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong.yaml").write_text("- name: a\n  max_text_chars: 5\n- name: b\n  trigger: {}\n")
    done = CliRunner().invoke(cli, ["policies", "check", "wrong.yaml"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "memstream: wrong.yaml:2: max_text_chars is 5: should be a whole number >= 20",
        "wrong.yaml:4: trigger: no such field, did you mean triggers?",
    ]


def test_templates_that_can_give_one_name_to_two_namespaces_produce_a_warning(tmp_path: Path):
    (tmp_path / "both.yaml").write_text("name: both\nnamespaces: ['{user_id}', '{app_id}']\n")
    done = CliRunner().invoke(cli, ["policies", "check", str(tmp_path / "both.yaml")])
    assert done.exit_code == 0
    assert "can have the same name" in done.stderr.replace("\n", " ")


async def test_one_language_without_a_model_produces_a_warning(
    deploy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "english.yaml").write_text("name: english\none_language: en\n")
    deployment = await deploy("languages")
    policies = policies_of(deployment.settings)
    for done in (await policies("check", "english.yaml"), await policies("put", "english.yaml")):
        assert done.exit_code == 0, done.stderr
        assert "one_language of 'english' needs a model" in done.stderr.replace("\n", " ")
    assert "one_language of 'english' needs a model" in await doctor.policies(deployment.settings)


def test_presets_are_listed_and_their_files_printed():
    listed = CliRunner().invoke(cli, ["policies", "presets"]).stdout.splitlines()
    assert [line.split()[0] for line in listed] == [
        *("agent-longterm", "app-notes", "chat-window", "companion", "session-insights")
    ]
    assert "name: companion\n" in CliRunner().invoke(cli, ["policies", "presets", "companion"]).stdout


async def test_search_applies_the_policies_of_the_topic(
    deploy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deployment = await deploy("policy-search")
    memstream = commands_of(deployment.settings)
    await deployment.worker(stages=("archive", "passages"))
    message = {
        "conversation_id": "talk",
        "message_id": "talk-1",
        "role": "user",
        "timestamp": "2026-03-02T12:00:00Z",
        "content": "The plums are in the cellar.",
        "app_id": "notes",
        "user_id": "ada",
    }
    await deployment.publish(Event(topics.MESSAGES, "talk", message))

    async def indexed() -> bool:
        return await deployment.count("passages") == 1

    await eventually(indexed, "the message has a passage")
    asked = ("search", "plums in the cellar", "-n", "notes/ada", "--in", "said", "--json")
    (hit,) = lines(await memstream(*asked))
    assert hit["passage"]["text"] == "The plums are in the cellar."

    (tmp_path / "quiet.yaml").write_text("name: quiet\nmatch: {app_id: notes}\nrecall: false\n")
    assert (await memstream("policies", "put", "quiet.yaml")).exit_code == 0
    assert lines(await memstream(*asked)) == []
