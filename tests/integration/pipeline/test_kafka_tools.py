"""Kafka's own tools show consumer groups with lag, topics with their settings, and legible records."""

import json
import re
import shutil
import subprocess
from collections import defaultdict
from typing import Any

import pytest

from deploy.embedded.stack import EmbeddedStack
from schemas.kafka import topics
from streams.kafka.topics import STAGES, specs
from tests.deployment import Deployment

GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"


@pytest.fixture
def deployment(samples: Any) -> Deployment:
    return samples.deployment


@pytest.fixture
def tool(embedded_stack: EmbeddedStack) -> Any:
    """Runs one of Kafka's tools against the broker; returns what it prints."""

    def run(main_class: str, *args: str) -> str:
        command = embedded_stack.broker.tool_command(
            main_class, "--bootstrap-server", embedded_stack.bootstrap_servers, *args
        )
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def described(output: str) -> dict[str, list[dict[str, str]]]:
    """The rows of described groups, by group; each row by the column names of its header."""
    header: list[str] = []
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["GROUP"]:
            header = words
        elif words and header:
            found[words[0]].append(dict(zip(header, words, strict=False)))
    return found


def test_every_stage_is_a_consumer_group_with_zero_lag(tool: Any, deployment: Deployment):
    groups = described(tool(GROUPS, "--describe", "--all-groups"))
    for stage in STAGES:
        rows = groups[deployment.group(stage)]
        known = {deployment.topic(name) for name in STAGES[stage]}
        assert known - {deployment.topic(topics.COMMANDS)} <= {row["TOPIC"] for row in rows} <= known
        assert {row["LAG"] for row in rows} == {"0"}


async def test_a_running_worker_is_listed_as_a_member_of_each_group(tool: Any, deployment: Deployment):
    worker = await deployment.worker("seen")
    try:
        groups = described(tool(GROUPS, "--describe", "--all-groups", "--members"))
    finally:
        assert await worker.stop() == 0
    counts = {spec.name: spec.partitions for spec in specs(deployment.settings.topics())}
    for stage in STAGES:
        (member,) = groups[deployment.group(stage)]
        read = [counts[deployment.topic(name)] for name in STAGES[stage]]
        changelog = counts[deployment.settings.topics().changelog] if stage == "windows" else 0
        assert int(member["#PARTITIONS"]) == sum(read) + changelog


def test_topics_are_described_with_partitions_and_retention(tool: Any, deployment: Deployment):
    output = tool(TOPICS, "--describe")
    headers = {line.split()[1]: line for line in output.splitlines() if line.startswith("Topic:")}
    for spec in specs(deployment.settings.topics()):
        assert f"PartitionCount: {spec.partitions}" in headers[spec.name]
        days = spec.retention_days
        kept = "cleanup.policy=compact" if days is None else f"retention.ms={days * 86_400_000}"
        assert kept in headers[spec.name]


@pytest.mark.parametrize(
    ("topic", "key", "header"),
    [
        (topics.MESSAGES, r"(notes|support|workbench)-[a-z-]+", "traceparent:00-"),
        (topics.REQUESTS, r"(notes|support|workbench)-[a-z-]+", "request-id:"),
        (topics.CANDIDATES, r"(notes|support|workbench)(/[a-z]+)?", "traceparent:00-"),
        (topics.EVENTS, r"(notes|support|workbench)(/[a-z]+)?", "content-type:application/cloudevents+json"),
        (topics.STATE, r"[0-9a-f-]{36}", "traceparent:00-"),
        (topics.ACTIVITY, r"(notes|support|workbench)(-[a-z-]+|/[a-z]+)?", "content-type:application/cloudevents+json"),
        (topics.WINDOW_CONTROL, r"(notes|support|workbench)-[a-z-]+", "traceparent:00-"),
        (topics.DEAD_LETTERS, r"support-carlos-garbled", "memstream-reason:"),
    ],
)
def test_keys_headers_and_values_are_legible_with_the_console_consumer(
    topic: str, key: str, header: str, tool: Any, deployment: Deployment
):
    output = tool(
        CONSUMER,
        *("--topic", deployment.topic(topic), "--from-beginning", "--max-messages", "2", "--timeout-ms", "20000"),
        *("--property", "print.key=true", "--property", "print.headers=true"),
    )
    lines = output.splitlines()
    assert len(lines) == 2
    for line in lines:
        headers, said, value = line.split("\t")
        assert header in headers
        assert re.fullmatch(key, said)
        assert topic == topics.DEAD_LETTERS or isinstance(json.loads(value), dict)


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_events_are_legible_with_kcat(deployment: Deployment):
    broker = deployment.settings.bootstrap_servers
    command = ["kcat", "-b", broker, "-t", deployment.topic(topics.EVENTS), "-C", "-e", "-q", "-f", "%k\t%h\t%s\n"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    for line in done.stdout.splitlines():
        key, headers, value = line.split("\t")
        assert json.loads(value)["data"]["namespace"] == key
        assert "content-type=application/cloudevents+json" in headers
