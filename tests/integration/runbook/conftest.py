"""A stack for the runbook, with the names of a real installation, and the tools of its pages."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deploy.embedded.postgres.server import binaries
from deploy.embedded.process import module_environment
from deploy.embedded.stack import EmbeddedStack
from deploy.runtime.dev import environment as settings_as_variables
from deploy.settings import Settings
from deploy.settings.defaults import PREFIX
from tests.builders import chat_events
from tests.deployment import Deployment, Event
from tests.preparation import prepared
from tests.runbook_page import Page

KAFKA_TOOLS = {
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
}

Open = Callable[[str], "Tried"]


MARA = "notes/mara"
AT = "2026-11-01T12:00:00Z"


def message(conversation: str, number: int, text: str, user: str = "mara") -> Event:
    return chat_events.message(conversation, number, text, at=AT, app_id="notes", user_id=user)


def ended(conversation: str, last: int) -> Event:
    return chat_events.end(conversation, at=AT, last_message_id=f"{conversation}-{last}")


def said(conversation: str, text: str, user: str = "mara") -> list[Event]:
    """A conversation of one message."""
    return [message(conversation, 1, text, user), ended(conversation, 1)]


class Tried:
    """A page and the deployment that it is tested on."""

    def __init__(self, page: Page, deployment: Deployment) -> None:
        self.deployment = deployment
        self._page = page

    async def run(self) -> str:
        """Runs the next block of the page and returns its output."""
        return await asyncio.to_thread(self._page.run)

    def knows(self, **variables: str) -> None:
        """Sets further variables of the page's commands."""
        self._page.environment.update(variables)

    def done(self) -> None:
        self._page.done()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Iterator[EmbeddedStack]:
    """A separate stack: pages stop its parts, and use topic names without a prefix."""
    stack = EmbeddedStack(tmp_path_factory.mktemp("runbook"), cache_dir)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, stack.start()).result()
        yield stack
        thread.submit(asyncio.run, stack.stop()).result()


@pytest.fixture(scope="module")
def settings(stack: EmbeddedStack) -> Settings:
    few = {"conversation_partitions": 2, "namespace_partitions": 2}
    plain = {"topic_prefix": "", "qdrant_collection": "memories"}
    with ThreadPoolExecutor(1) as thread:
        preparing = prepared(stack, "memstream_trial", stack.data_dir, **few, **plain)
        return thread.submit(asyncio.run, preparing).result()


@pytest.fixture(scope="module")
def tools(stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of commands: memstream, Kafka's tools, PostgreSQL's tools."""
    directory = tmp_path_factory.mktemp("tools")
    found = {"memstream": [sys.executable, "-m", "deploy.cli.main"]}
    found |= {name: stack.broker.tool_command(main) for name, main in KAFKA_TOOLS.items()}
    found |= {name: [str(binaries() / name)] for name in ("psql", "pg_dump", "pg_restore")}
    for name, command in found.items():
        (directory / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        (directory / name).chmod(0o755)
    return directory


@pytest.fixture
async def page(stack: EmbeddedStack, settings: Settings, tools: Path, tmp_path: Path) -> AsyncIterator[Open]:
    """`page(name)`: a page of the runbook with a deployment without workers."""
    deployment = Deployment(settings, tmp_path)
    environment = {name: value for name, value in {**os.environ, **module_environment()}.items() if PREFIX not in name}
    environment |= settings_as_variables(settings)
    environment |= {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "BROKERS": stack.bootstrap_servers,
        "DSN": deployment.dsn,
        "SERVER": deployment.dsn.rpartition("/")[0],
        "QDRANT": stack.qdrant_url,
        "COLUMNS": "110",
    }
    yield lambda name: Tried(Page(name, deployment, tmp_path, environment), deployment)
    await deployment.stop_workers()
