"""`memstream dev` starts everything that a chat service needs, keeps its data and stops its processes."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import psutil
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from deploy.cli.dev import addresses
from deploy.embedded.process import module_environment
from deploy.runtime.dev import ready_path
from deploy.settings import Settings
from deploy.settings.defaults import PREFIX
from tests.deployment import eventually

READY_WITHIN_S = 120.0
GONE_WITHIN_S = 40.0
EXAMPLE = Path(__file__).parents[3] / "deploy" / "samples" / "chat_service.py"
EXAMPLE_WITHIN_S = 120.0  # it waits 60 s at most for what is remembered
AT = "2026-03-02T09:00:00Z"


class Dev:
    """One `memstream dev` on a data directory, on free ports."""

    def __init__(self, data_dir: Path, log: Path) -> None:
        ports = [word for part in ("kafka", "postgres", "qdrant", "api") for word in (f"--{part}-port", "0")]
        self._command = [sys.executable, "-m", "deploy.cli.main", "dev", "--data-dir", str(data_dir), *ports]
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None
        self.family: list[psutil.Process] = []

    def start(self, *options: str, **environment: str) -> None:
        env = {name: value for name, value in module_environment().items() if not name.startswith(PREFIX)} | environment
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*self._command, *options], env=env, cwd=self.log.parent, stdout=log, stderr=log
            )

    async def addresses(self) -> dict[str, str]:
        """Returns the printed addresses by name, once everything serves, and records the running processes."""
        assert self.process is not None

        async def printed() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            return "Ctrl-C stops everything" in self.log.read_text()

        await eventually(printed, "memstream dev serves", READY_WITHIN_S)
        this = psutil.Process(self.process.pid)
        self.family = [this, *this.children(recursive=True)]
        printed_rows = [re.split(" {2,}", line.strip()) for line in self.log.read_text().splitlines()]
        return {row[0]: row[1] for row in printed_rows if len(row) == 2}

    async def all_gone(self) -> None:
        assert self.process is not None
        await asyncio.to_thread(self.process.wait, GONE_WITHIN_S)

        async def gone() -> bool:
            return not any(alive(process) for process in self.family)

        await eventually(gone, f"no process is left of {self.family}", GONE_WITHIN_S)


def alive(process: psutil.Process) -> bool:
    """A zombie that nobody has reaped yet counts as gone."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Dev]:
    dev = Dev(tmp_path / "data", tmp_path / "dev.log")
    yield dev
    if dev.process is not None and dev.process.poll() is None:
        dev.process.kill()
        dev.process.wait()


def test_the_address_of_the_panel_is_the_first_that_is_printed(tmp_path: Path):
    settings = Settings(data_dir=tmp_path)
    ready_path("api", settings).write_text("http://127.0.0.1:28080")
    printed = addresses(settings, Settings(), keyed=False)
    assert printed[0].split() == ["panel", "http://127.0.0.1:28080/"]
    assert not any("export" in line for line in printed), "commands look for these addresses anyway"


def test_a_stack_on_other_ports_prints_the_variables_that_commands_need(tmp_path: Path):
    settings = Settings(data_dir=tmp_path, bootstrap_servers="127.0.0.1:1", postgres_dsn="postgresql://u@127.0.0.1:2/m")
    ready_path("api", settings).write_text("http://127.0.0.1:28080")
    assert (
        "For other commands: export MEMSTREAM_BOOTSTRAP_SERVERS=127.0.0.1:1 "
        "MEMSTREAM_POSTGRES_DSN=postgresql://u@127.0.0.1:2/m"
    ) in addresses(settings, Settings(), keyed=False)


@pytest.mark.heavy
async def test_dev_with_keys_answers_only_to_keys_and_within_their_rights(dev: Dev):
    dev.start("--keys")
    printed = await dev.addresses()
    assert "the API requires a key: `memstream keys create" in dev.log.read_text()
    key = read_only_key(printed["PostgreSQL"])
    memories = f"{printed['API']}/v1/memories"
    new = {"namespace": "kitchen/ada", "text": "User sails."}
    async with httpx.AsyncClient() as client:
        assert (await client.get(memories, params={"namespace": "kitchen/ada"})).status_code == 401
        client.headers["Authorization"] = f"Bearer {key}"
        assert (await client.get(memories, params={"namespace": "kitchen/ada"})).status_code == 200
        assert (await client.get(memories, params={"namespace": "kitchen/bob"})).status_code == 403
        assert (await client.post(memories, json=new)).status_code == 403
    assert dev.process is not None
    dev.process.terminate()
    await dev.all_gone()


def read_only_key(dsn: str) -> str:
    """Makes a key on the command line that may read one namespace."""
    command = [sys.executable, "-m", "deploy.cli.main", "keys", "create", "reader", "--read", "kitchen/ada"]
    env = module_environment() | {f"{PREFIX}POSTGRES_DSN": dsn}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.heavy
async def test_dev_runs_all_services_keeps_data_across_restarts_and_models_and_leaves_no_processes(dev: Dev):
    dev.start(MEMSTREAM_PASSAGE_EMBEDDER_MODEL="e5-small-v2-int8")
    first = await dev.addresses()
    assert list(first).index("panel") < min(
        list(first).index(name) for name in ("Kafka", "PostgreSQL", "Qdrant", "API")
    )
    assert len(dev.family) >= 10, "dev, three servers, a worker and the API, each of the five under its guard"
    await talk(first["Kafka"])
    (event,) = await events(first["Kafka"])
    assert event["data"]["memory"]["text"] == "User lives in Ghent."
    assert dev.process is not None
    dev.process.terminate()
    await dev.all_gone()
    assert dev.process.returncode == 0

    dev.start()
    second = await dev.addresses()
    assert "indexing memories and messages again" in dev.log.read_text()
    assert await remembered(second["PostgreSQL"]) == ["User lives in Ghent."]
    assert await events(second["Kafka"]) == [event]
    assert second["data, logs"] == first["data, logs"]
    output = await readme_example(second["Kafka"], second["API"])
    assert "kitchen/ada: created fact: User is allergic to peanuts." in output
    *_, of_the_later_talk = "\n".join(output).split("> What may I not eat?\n")
    assert "- [FACT] User is allergic to peanuts." in of_the_later_talk
    dev.process.kill()
    await dev.all_gone()


async def talk(bootstrap_servers: str) -> None:
    """One conversation from a plain client."""
    said = {
        "conversation_id": "talk",
        "message_id": "m1",
        "role": "user",
        "timestamp": AT,
        "content": "I live in Ghent.",
    }
    who = {"app_id": "kitchen", "user_id": "ada"}
    end = {"conversation_id": "talk", "timestamp": AT, "message_count": 1}
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        await producer.send_and_wait("chat.messages", json.dumps(said | who).encode(), b"talk")
        await producer.send_and_wait("chat.conversations.ended", json.dumps(end).encode(), b"talk")


async def events(bootstrap_servers: str) -> list[Any]:
    """The first memory event and what came with it."""
    consumer = AIOKafkaConsumer("memory.events", bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest")
    async with consumer, asyncio.timeout(60):
        record = await consumer.getone()
        more = await consumer.getmany(timeout_ms=1000)
    return [json.loads(each.value) for each in (record, *(one for found in more.values() for one in found))]


async def readme_example(bootstrap_servers: str, url: str) -> list[str]:
    """The lines that the chat service of the README prints, run as it says there."""
    command = [sys.executable, str(EXAMPLE), bootstrap_servers, url]
    running = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        async with asyncio.timeout(EXAMPLE_WITHIN_S):
            output, _ = await running.communicate()
    finally:
        if running.returncode is None:
            running.kill()
    assert running.returncode == 0, output.decode()
    return output.decode().splitlines()


async def remembered(dsn: str) -> list[str]:
    connection = await asyncpg.connect(dsn)
    try:
        return [row["text"] for row in await connection.fetch("SELECT text FROM memories")]
    finally:
        await connection.close()
