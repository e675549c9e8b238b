"""Each part works as its own user with exactly the documented ACLs, on Apache Kafka with an authorizer."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
)
from confluent_kafka.admin import ResourceType as Kind
from pydantic import SecretStr

from deploy.embedded.kafka import broker as embedded
from deploy.embedded.kafka.broker import EmbeddedBroker
from deploy.embedded.kafka.config import LOG4J, Listener, server_properties
from deploy.embedded.ports import LOOPBACK, free_ports
from deploy.embedded.stack import EmbeddedStack
from schemas.kafka import topics
from streams.kafka.topics import STAGES
from tests.builders.chat_events import end, message
from tests.chaos.workers import ApiProcess
from tests.command_line import Done, run
from tests.deployment import Deployment, Event, deployed, eventually
from tests.preparation import PASSWORD

pytestmark = pytest.mark.heavy

PAGE = Path(__file__).parents[3] / "deploy" / "docs" / "kafka-rights.md"
USERS = (*STAGES, "api", "setup", "operator", "chat")
INPUTS = (topics.MESSAGES, topics.ENDED, topics.WINDOW_CONTROL, topics.REQUESTS, topics.CANDIDATES, topics.COMMANDS)
WHO = {"app_id": "a", "user_id": "u"}
AUDITED = re.compile(
    r"Principal = User:(\S+) is (Allowed|Denied) operation = (\w+) from host = \S+ on resource = (\w+):LITERAL:(\S+)"
)
AUDIT = "logger.audit.name=kafka.authorizer.logger\nlogger.audit.level=debug\n"
AUTHORIZER = (
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
    "super.users=User:ANONYMOUS\n"  # of the plain listener: the broker itself, and the test
)
# What a message or a passage makes use of that cannot be stored, a context that is pruned or summarised, a request that failed
# for good, and a budget that is used up.
SELDOM = {
    ("archive", "memory.dead-letters"),
    ("passages", "memory.dead-letters"),
    ("windows", "memory.activity"),
    ("extraction", "memory.activity"),
    ("extraction", "memory.window-control"),
}

EVERY_RULE = AclBindingFilter(
    Kind.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
)


class Right(NamedTuple):
    user: str
    kind: str
    name: str
    prefixed: bool
    operation: str

    @property
    def audited(self) -> tuple[str, str, str, str]:
        return self.user, re.sub(r"(?<!^)(?=[A-Z])", "_", self.operation).upper(), self.kind, self.name


def rights_of_the_page() -> list[Right]:
    found = []
    for section in PAGE.read_text().split("\n## ")[1:]:
        title = section.splitlines()[0]
        users = STAGES if title == "Every stage" else [re.findall(r"`(\w+)`", title)[0]]
        for kind, names, operations in re.findall(r"^\| (\w+) \| (`.*?) \| (.*?) \|$", section, re.MULTILINE):
            found += [
                Right(user, kind, name, "(prefixed)" in names, operation)
                for user in users
                for name in re.findall(r"`([^`]+)`", names)
                for operation in operations.split(", ")
            ]
    return found


class Guarded:
    """A broker whose users have the page's rights, once they are `given`, and that tells of each question for a right."""

    def __init__(self, directory: Path, jars: Path) -> None:
        (self._port,) = free_ports(1)
        known = " ".join(f"user_{name}='{PASSWORD}'" for name in USERS)
        commands = {
            "sasl.enabled.mechanisms": "PLAIN",
            "plain.sasl.jaas.config": f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};",
        }
        listener = Listener("USERS", "SASL_PLAINTEXT", self._port, commands)
        self._directory = directory
        self.broker = EmbeddedBroker(directory, jars, None, (listener,))

    def as_user(self, name: str) -> dict[str, Any]:
        return {
            "bootstrap_servers": f"{LOOPBACK}:{self._port}",
            "kafka_security_protocol": "SASL_PLAINTEXT",
            "kafka_sasl_mechanism": "PLAIN",
            "kafka_username": name,
            "kafka_password": PASSWORD,
        }

    async def give(self, rights: list[Right], prefix: str) -> None:
        """Returns once the authorizer has them all."""
        rules = [
            AclBinding(
                {"Topic": Kind.TOPIC, "Group": Kind.GROUP, "Cluster": Kind.BROKER}.get(
                    right.kind, Kind.TRANSACTIONAL_ID
                ),
                right.name if right.kind == "Cluster" else prefix + right.name,
                ResourcePatternType.PREFIXED if right.prefixed else ResourcePatternType.LITERAL,
                f"User:{right.user}",
                "*",
                AclOperation[right.audited[1]],
                AclPermissionType.ALLOW,
            )
            for right in rights
        ]
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        for made in admin.create_acls(rules).values():
            made.result(30)

        async def known() -> bool:
            return set(rules) <= set(admin.describe_acls(EVERY_RULE).result(30))

        await eventually(known, "the authorizer has the rights")

    def audit(self, prefix: str) -> dict[str, set[tuple[str, ...]]]:
        """Returns the audited operations (user, operation, resource), allowed and denied."""
        found: dict[str, set[tuple[str, ...]]] = {"Allowed": set(), "Denied": set()}
        for log in self._directory.glob("server.log*"):
            for user, verdict, operation, kind, name in AUDITED.findall(log.read_text()):
                if user != "ANONYMOUS":
                    found[verdict].add((user, operation, kind, name.removeprefix(prefix)))
        return found


@pytest.fixture
def guarded(tmp_path: Path, cache_dir: Path) -> Iterator[Guarded]:
    guarded = Guarded(tmp_path / "guarded", cache_dir / "jars")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(embedded, "server_properties", lambda *args: server_properties(*args) + AUTHORIZER)
        patched.setattr(embedded, "LOG4J", LOG4J + AUDIT)
        with asyncio.Runner() as runner:
            runner.run(guarded.broker.start())
            yield guarded
            runner.run(guarded.broker.stop())


@pytest.fixture
async def deployment(guarded: Guarded, embedded_stack: EmbeddedStack, tmp_path: Path) -> AsyncIterator[Deployment]:
    few = {"conversation_partitions": 1, "namespace_partitions": 1}
    brokers = {"bootstrap_servers": guarded.broker.bootstrap_servers}
    async with deployed(embedded_stack, "rights", tmp_path, **few, **brokers) as made:
        await guarded.give(rights_of_the_page(), made.settings.topic_prefix)
        yield made


class Parts:
    """The parts of one deployment, each as its user."""

    def __init__(self, deployment: Deployment, guarded: Guarded) -> None:
        self.deployment = deployment
        self._guarded = guarded

    async def work(self) -> None:
        """Every stage by itself."""
        await asyncio.gather(
            *(self.deployment.worker(name, stages=[name], **self._guarded.as_user(name)) for name in STAGES)
        )

    async def api(self) -> str:
        settings = self.deployment.settings.model_copy(update=self._guarded.as_user("api"))
        process = ApiProcess("api", settings, self.deployment.directory)
        process.start()
        self.deployment._workers.append(process)
        await process.wait_ready()
        return process.ready_text

    async def publish(self, *events: Event) -> None:
        """Publishes with the chat service's user."""
        own = self._guarded.as_user("chat") | {"kafka_password": SecretStr(PASSWORD)}
        settings = self.deployment.settings.model_copy(update=own)
        await Deployment(settings, self.deployment.directory).publish(*events)

    async def command(self, *args: str, user: str = "operator") -> Done:
        own = self._guarded.as_user(user)
        done = await asyncio.to_thread(run, self.deployment.settings, self.deployment.directory, *args, **own)
        assert done.returncode == 0, (args, done.stdout[-500:], done.stderr[-500:])
        return done

    async def read(self) -> None:
        """Waits until the stages have read what was published."""

        async def without_lag() -> bool:
            return not any((await self.deployment.lags()).values())

        await eventually(without_lag, "everything is read", 120)


async def test_the_documented_kafka_acls_are_sufficient_and_minimal(
    deployment: Deployment, guarded: Guarded, tmp_path: Path
):
    parts = Parts(deployment, guarded)
    await parts.command("topics", "create", user="setup")
    await parts.work()
    await remember(parts)
    await ask_the_api(parts)
    await parts.command("erase", "--conversation", "c")
    await command(parts, tmp_path)

    audited = guarded.audit(deployment.settings.topic_prefix)
    unseen = {"IDEMPOTENT_WRITE"}  # the authorizer looks for a right to write next
    assert {each for each in audited["Denied"] if each[1] not in unseen} == set()
    unused = {right.audited for right in rights_of_the_page() if right.user in (*STAGES, "api") and not right.prefixed}
    assert {each for each in unused - audited["Allowed"] if (each[0], each[3]) not in SELDOM} == set()


async def remember(parts: Parts) -> None:
    await parts.command("policies", "put", "--preset", "agent-longterm", "--match", "app_id=z", "--name", "z")
    await parts.publish(message("c", 1, "I am allergic to peanuts.", **WHO), end("c", message_count=1))
    await parts.deployment.publish(*(Event(name, "garbage", b"{") for name in INPUTS))
    await parts.deployment.publish(Event(topics.MESSAGES, "garbage", b'{"user_id": "u"'))  # erased with the user

    async def events() -> list[Any]:
        return await parts.deployment.values(topics.EVENTS)

    await eventually(events, "a memory is published", 120)
    await parts.publish(message("e", 1, "How are you?", **WHO), end("e", message_count=1))  # nothing is kept of it
    await parts.publish(message("d", 1, "I live in Lyon.", **WHO))
    await parts.read()
    window = "SELECT 1 FROM windows WHERE conversation_id = 'd'"
    await eventually(lambda: parts.deployment.fetch(window), "the window of d is known")
    await parts.command("window", "flush", "d")
    await parts.read()


async def ask_the_api(parts: Parts) -> None:
    requests = [
        ("POST", "/v1/memories", {"namespace": "a/u", "text": "Likes coffee.", "kind": "fact"}),
        ("POST", "/v1/conversations/c/flush", None),
        ("PUT", "/v1/policies/y", {"name": "y", "match": {"app_id": "y"}}),
        ("POST", "/v1/users/purge", {"user_id": "u", "app_id": "a"}),
    ]
    async with httpx.AsyncClient(base_url=await parts.api(), timeout=120) as client:
        trail = (await client.get("/v1/conversations/c/trail", params={"message_id": "c-1"})).json()
        assert trail["steps"][0]["kind"] == "published", trail
        for method, path, body in requests:
            answer = await client.request(method, path, json=body)
            assert answer.is_success, (path, answer.text)
        status = (await client.get("/v1/pipeline")).json()
        assert (status["missing"], [each["running"] for each in status["stages"]]) == ({}, [True] * len(STAGES))
        found = (await client.get("/v1/dead-letters")).json()["letters"]
        # The operator replays the one that came from commands.
        theirs = [each["letter"] for each in found if not each["source"]["topic"].endswith(topics.COMMANDS)]
        answer = await client.post("/v1/dead-letters/replay", json={"letters": theirs})
        assert {each["status"] for each in answer.json()["outcomes"]} == {"replayed"}, answer.text
        async with client.stream("GET", "/v1/events", params={"namespace": "a/u"}) as stream:
            assert stream.is_success


async def command(parts: Parts, tmp_path: Path) -> None:
    said = {"conversation_id": "f", "message_id": "f-1", "role": "user", "content": "I like tea."}
    line = {"topic": topics.MESSAGES, "key": "f", "value": said | WHO | {"timestamp": "2026-11-01T10:00:00Z"}}
    file = tmp_path / "more.jsonl"
    file.write_text(json.dumps(line))
    await parts.command("publish", str(file))
    await parts.command("events")
    await parts.command("dead-letters", "list")
    await parts.command("dead-letters", "replay", "--stage", "curation")
    await parts.command("replay", "--all", "--from", "kafka", "--provider", "offline")
    await parts.command("doctor")
    await parts.deployment.stop_workers()
    await parts.command("reindex")
