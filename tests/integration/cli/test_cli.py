"""The command line as a process against the stack: output and exit codes."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from qdrant_client import QdrantClient
from typer.testing import CliRunner

from deploy.cli.main import cli
from deploy.embedded.ports import free_port
from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from schemas.kafka import topics
from streams.kafka.topics import specs
from tests.command_line import Run, lines
from tests.preparation import PASSWORD, administer, dsn_of, unprepared
from tests.servers.embeddings import MODEL, EmbeddingServer
from tests.servers.scripted import in_a_thread


@pytest.fixture(scope="module")
def empty(embedded_stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a deployment of which nothing is there but an empty database."""
    name = f"cli-{uuid4().hex[:8]}"
    asyncio.run(administer(embedded_stack.dsn, f'CREATE DATABASE "{name}"'))
    yield unprepared(embedded_stack, name, tmp_path_factory.mktemp("cli"), conversation_partitions=2)
    asyncio.run(administer(embedded_stack.dsn, f'DROP DATABASE "{name}" WITH (FORCE)'))


@pytest.mark.parametrize(
    "command",
    [
        *(
            "",
            "demo",
            "dev",
            "worker",
            "migrate",
            "publish",
            "search",
            "profile",
            "events",
            "reindex",
            "doctor",
            "settings",
        ),
        *("topics", "topics create", "topics list"),
        *("window", "window show", "window flush", "window prune", "window clear"),
        *("policies", "policies check", "policies put", "policies list", "policies show", "policies delete"),
        "policies presets",
    ],
)
def test_every_command_has_help(command: str):
    shown = CliRunner().invoke(cli, [*command.split(), "--help"], env={"COLUMNS": "120"})
    assert shown.exit_code == 0
    assert "Usage:" in shown.output
    assert len(shown.output.splitlines()) > 5


def test_an_empty_database_is_migrated_once(memstream: Run, empty: Settings):
    dsn = empty.postgres_dsn.get_secret_value()
    (first,) = lines(memstream("migrate", "--json", postgres_dsn=dsn))
    assert "001_messages" in first["applied"]
    assert memstream("migrate", postgres_dsn=dsn).stdout == "nothing to apply\n"


def test_topics_create_is_idempotent_and_topics_list_reports_partition_differences(memstream: Run, empty: Settings):
    chosen = {"topic_prefix": empty.topic_prefix, "conversation_partitions": 2, "namespace_partitions": 2}
    (created,) = lines(memstream("topics", "create", "--json", **chosen))
    assert empty.topic_prefix + topics.MESSAGES in created["created"]
    assert len(created["created"]) == len(specs(empty.topics()))
    assert lines(memstream("topics", "create", "--json", **chosen)) == [{"created": []}]
    listed = memstream("topics", "list", "--json", **chosen)
    assert listed.returncode == 0
    assert all(row["partitions"] == row["wanted"] for row in lines(listed))
    assert memstream("topics", "list", **(chosen | {"conversation_partitions": 3})).returncode == 1


def test_publish_fails_for_a_missing_file(memstream: Run):
    done = memstream("publish", "nowhere.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "nowhere.jsonl" in done.stderr


@pytest.mark.parametrize("wrong", ["no json", '{"topic": "chat.messages", "key": 7, "value": {}}'])
def test_publish_names_an_invalid_line_and_publishes_nothing(wrong: str, memstream: Run, directory: Path):
    good = '{"topic": "chat.messages", "key": "cli", "value": {}}'
    (directory / "talk.jsonl").write_text(f"{good}\n\n{wrong}\n")
    done = memstream("publish", "talk.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "talk.jsonl, line 3" in done.stderr


async def test_publish_writes_the_records_of_a_file_to_kafka(memstream: Run, directory: Path, deploy: Any):
    deployment = await deploy("publish")
    line = {"topic": "chat.messages", "key": "talk", "value": {"conversation_id": "talk"}}
    raw = {"topic": "chat.messages", "key": "talk", "raw": "{not json"}
    (directory / "talk.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(raw)}\n")
    done = memstream("publish", "talk.jsonl", "--json", topic_prefix=deployment.settings.topic_prefix)
    assert lines(done) == [{"published": 2}]
    found = [(record.key, record.value) for record in await deployment.records(topics.MESSAGES)]
    assert found == [(b"talk", b'{"conversation_id":"talk"}'), (b"talk", b"{not json")]


def test_a_memory_is_found_by_its_meaning_in_its_namespace_only(memstream: Run):
    done = memstream("search", "which nuts must he avoid?", "-n", "notes/tom", "--in", "memories", "--json")
    assert done.returncode == 0
    assert lines(done)[0]["memory"]["text"] == "User is allergic to peanuts."
    assert 0.2 <= lines(done)[0]["score"] <= 1.0
    elsewhere = memstream("search", "which nuts must he avoid?", "-n", "notes/nobody")
    assert (elsewhere.returncode, elsewhere.stderr) == (0, "")
    assert "no memory or passage matches" in elsewhere.stdout


def test_search_explains_scores_and_without_a_query_lists_by_importance(memstream: Run):
    (hit, *_) = lines(memstream("search", "peanuts", "-n", "notes/tom", "--explain", "--json"))
    added = [hit["parts"].get(f"from_{part}", 0.0) for part in ("relevance", "importance", "recency", "reinforcement")]
    assert hit["score"] == pytest.approx(sum(added))
    table = memstream("search", "peanuts", "-n", "notes/tom", "--explain").stdout
    assert all(column in table for column in ("score", "cosine", "words"))
    listed = lines(memstream("search", "-n", "notes/tom", "--json"))
    scores = [hit["memory"]["importance"] for hit in listed]
    assert len(scores) > 1 and scores == sorted(scores, reverse=True)
    assert lines(memstream("search", "-n", "notes/tom", "--kind", "no such kind", "--json")) == []


def test_profile_prints_the_profile_text_used_in_prompts(memstream: Run):
    (made,) = lines(memstream("profile", "notes/tom", "--json"))
    assert "User is allergic to peanuts." in made["text"]
    shown = memstream("profile", "notes/tom")
    assert (shown.returncode, shown.stdout) == (0, f"{made['text']}\n")
    assert made["version"] in shown.stderr
    (line, *_) = (each for each in made["lines"] if each["part"] == "constraint")
    assert line["memory_ids"][0] in memstream("profile", "notes/tom", "--sources").stdout
    nobody = memstream("profile", "notes/nobody")
    assert (nobody.returncode, nobody.stdout) == (0, "")
    assert "the profile is empty" in nobody.stderr


def test_search_without_qdrant_returns_results_with_a_warning(memstream: Run):
    arguments = ("search", "allergic to peanuts", "-n", "notes/tom", "--in", "memories", "--json")
    done = memstream(*arguments, qdrant_url="http://127.0.0.1:1")
    assert done.returncode == 0
    assert lines(done)[0]["memory"]["text"] == "User is allergic to peanuts."
    assert "vectors_failed" in done.stderr


def test_events_prints_one_event_per_line(memstream: Run, samples: Any):
    printed = lines(memstream("events", "--json"))
    published = samples.twice.values(topics.EVENTS)
    assert {event["id"] for event in printed} == {event["id"] for event in published}
    assert len(printed) == len(published)


def test_reindex_rebuilds_a_lost_qdrant_collection_from_postgres(
    memstream_here: Run, embedded_stack: EmbeddedStack, samples: Any
):
    """On a collection of its own: the samples' collection stays."""
    chosen = {"qdrant_collection": f"{samples.deployment.settings.qdrant_collection}-lost"}
    client = QdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    try:
        memstream_here("reindex", **chosen)
        client.delete_collection(chosen["qdrant_collection"])
        (rebuilt,) = lines(memstream_here("reindex", "--json", **chosen))
        passages = rebuilt.pop("passages")
        assert rebuilt == {"written": len(samples.once.points), "removed": 0, "left_out": 0}
        assert passages == {"written": 0, "removed": 0, "replaced": 0, "skipped": 0}, "their collection is not lost"
        found = lines(memstream_here("search", "peanuts", "-n", "notes/tom", "--json", **chosen))
        assert found[0]["memory"]["text"] == "User is allergic to peanuts."
    finally:
        client.delete_collection(chosen["qdrant_collection"])
        client.close()


def test_another_embedding_model_is_rejected_until_reindex_has_embedded_everything(
    memstream: Run, memstream_here: Run, samples: Any, embedded_stack: EmbeddedStack
):
    """PostgreSQL keeps one vector a memory: the last command embeds the samples again as they were."""
    chosen = {"qdrant_collection": f"{samples.deployment.settings.qdrant_collection}-switched"}
    client = QdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    every = {"written": len(samples.once.points), "removed": 0, "left_out": 0}
    with in_a_thread(EmbeddingServer()) as server:
        other = chosen | {"embedder": "openai", "embedder_model": MODEL, "embedder_base_url": server.openai_url}
        try:
            memstream_here("reindex", **chosen)
            for refused in (
                memstream("worker", "--stage", "curation", **other),
                memstream_here("search", "peanuts", "-n", "notes/tom", **other),
            ):
                assert refused.returncode == 1
                assert "run `memstream reindex`" in refused.stderr
            doctor = memstream_here("doctor", "--json", **other)
            assert [finding["name"] for finding in lines(doctor) if not finding["ok"]] == ["qdrant"]
            assert every.items() <= lines(memstream_here("reindex", "--json", **other))[0].items()
            found = lines(memstream_here("search", "allergic to peanuts", "-n", "notes/tom", "--json", **other))
            assert found[0]["memory"]["text"] == "User is allergic to peanuts."
        finally:
            assert every.items() <= lines(memstream_here("reindex", "--json", **chosen))[0].items()
            client.delete_collection(chosen["qdrant_collection"])
            client.close()


def test_wrong_settings_are_named_with_their_values_in_one_line(memstream: Run):
    wrong = {"session_timeout_s": "abc", "start_from": "yesterday", "qdrant_url": "localhost:6333"}
    done = memstream("migrate", **wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    for name, value in wrong.items():
        assert f"MEMSTREAM_{name.upper()}='{value}'" in done.stderr


@pytest.mark.parametrize(
    "dsn",
    [
        f"postgresql://memstream:{PASSWORD}@127.0.0.1:{{port}}/memstream",
        f"postgresql://memstream:{PASSWORD}@127.0.0.1:no-port/memstream",
        f"mysql://memstream:{PASSWORD}@127.0.0.1/memstream",
    ],
    ids=["nobody there", "no port", "another scheme"],
)
def test_an_invalid_dsn_is_reported_in_one_line_without_its_password(dsn: str, memstream: Run):
    done = memstream("migrate", postgres_dsn=dsn.format(port=free_port()))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("topics", "list"),
        ("dead-letters", "list"),
        ("policies", "list"),
        ("events",),
        ("erase", "--user", "ada"),
        ("replay", "--all"),
        ("mcp", "-n", "a/b"),
    ],
    ids=["admin client", "producer", "topic of policies", "consumer", "ends of topics", "its own log", "server"],
)
def test_a_command_that_finds_no_broker_prints_the_reason_and_the_settings_to_check_in_one_line(
    words: tuple[str, ...], memstream: Run
):
    address = f"127.0.0.1:{free_port()}"
    done = memstream(*words, bootstrap_servers=address)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert done.stderr.startswith(f"memstream: no Kafka broker answers ({address}: ")
    assert "Connect call failed" in done.stderr and "MEMSTREAM_BOOTSTRAP_SERVERS" in done.stderr


def test_settings_are_listed_with_their_defaults_and_no_secret_of_this_process(memstream: Run):
    listed = {row["name"]: row for row in lines(memstream("settings", "--json"))}
    assert listed["MEMSTREAM_START_FROM"]["default"] == "now"
    assert all(row["meaning"] for row in listed.values())


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        (lambda stack: {"postgres_dsn": dsn_of(stack, "postgres")}, "run `memstream migrate`"),
        (lambda stack: {"topic_prefix": "nowhere."}, "run `memstream topics create`"),
    ],
    ids=["migrations", "topics"],
)
def test_a_worker_without_migrations_or_topics_exits_with_the_remedy(
    change: Callable[[EmbeddedStack], dict[str, str]], remedy: str, memstream: Run, embedded_stack: EmbeddedStack
):
    done = memstream("worker", **change(embedded_stack))
    assert done.returncode == 1
    assert remedy in done.stderr


def test_an_unknown_stage_is_a_usage_error(memstream: Run):
    done = memstream("worker", "--stage", "windows", "--stage", "dreams")
    assert done.returncode == 2
    assert "'dreams'" in done.stderr
    assert "windows, archive, passages, extraction, curation" in done.stderr
