"""Every Kafka client of memstream authenticates with valid credentials only."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings, load
from deploy.wiring import connections
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from streams.kafka.topics import create, partition_counts, specs
from tests.builders.chat_events import end, message
from tests.certificates import Authority
from tests.command_line import Done, lines, run
from tests.deployment import Deployment, deployed, eventually
from tests.integration.security.conftest import Secured
from tests.preparation import PASSWORD

pytestmark = pytest.mark.heavy

SAID = "I am allergic to peanuts."


async def reached(settings: Settings) -> dict[str, int]:
    return await partition_counts(settings.cluster().client(), specs(settings.topics()))


@pytest.fixture(params=["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "certificate", "token"])
def settings(request: pytest.FixtureRequest, secured: Secured) -> Settings:
    """One of each way in, with topics of its own."""
    way = request.param
    others = {"certificate": secured.certificate_settings, "token": secured.token_settings}
    own = others[way]() if way in others else secured.password_settings(way)
    return load(**own, topic_prefix=f"{way}.", namespace_partitions=1, conversation_partitions=1)


async def test_an_authenticated_client_creates_writes_and_reads_topics(settings: Settings):
    assert len(await create(settings.cluster().client(), specs(settings.topics()), 1)) == 12
    async with connections.kafka(settings) as publisher, connections.policy_topic(settings) as reader:
        await publisher.publish([Outgoing(topic=topics.POLICIES, key=b"key", value=b"value")])
        assert [record.value for record in await reader.to_end()] == [b"value"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"kafka_password": "of somebody else"},
        {"kafka_username": "mallory"},
        {"kafka_sasl_mechanism": "PLAIN", "kafka_password": "of somebody else"},
        {"kafka_ca_file": None},
        {"kafka_security_protocol": "SSL", "kafka_username": None, "kafka_password": None},
        {"kafka_security_protocol": "PLAINTEXT"}
        | {f"kafka_{name}": None for name in ("username", "password", "ca_file")},
    ],
    ids=["password", "name", "plain password", "authority", "no name", "no encryption"],
)
async def test_wrong_credentials_fail_at_once(secured: Secured, wrong: dict[str, Any]):
    async with asyncio.timeout(20):
        with pytest.raises(Retryable):
            await reached(load(**secured.password_settings("SCRAM-SHA-512") | wrong))


async def test_a_broker_certificate_of_another_authority_is_rejected(secured: Secured, tmp_path: Path):
    other = Authority(tmp_path, "another")
    for way in (secured.password_settings("PLAIN"), secured.certificate_settings()):
        with pytest.raises(Retryable):
            await reached(load(**way | {"kafka_ca_file": other.file}))


async def test_a_broker_requiring_client_certificates_rejects_a_client_without_one(secured: Secured):
    none = {f"kafka_{name}": None for name in ("certificate_file", "key_file", "key_password")}
    with pytest.raises(Retryable):
        await reached(load(**secured.certificate_settings() | none))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kafka_password": "EXAMPLE-an0ther"}, "invalid_client: wrong secret"),
        (
            {"kafka_oauth_token_url": "http://127.0.0.1:9/token"},
            "no token for the client 'memstream' from http://127.0.0.1:9",
        ),
    ],
    ids=["secret", "provider"],
)
async def test_doctor_explains_why_no_oauth_token_was_obtained(
    embedded_stack: EmbeddedStack, secured: Secured, tmp_path: Path, wrong: dict[str, Any], said: str
):
    settings = load(**secured.token_settings() | {"data_dir": tmp_path})
    done = await asyncio.to_thread(run, settings, tmp_path, "doctor", **wrong)
    broker = next(line for line in done.stdout.splitlines() if " broker:" in line)
    assert broker.startswith("FAIL")
    assert said in broker
    assert "EXAMPLE-an0ther" not in done.stdout + done.stderr


@pytest.fixture(params=["password", "certificate", "token"])
async def deployment(
    request: pytest.FixtureRequest, embedded_stack: EmbeddedStack, secured: Secured, tmp_path: Path
) -> AsyncIterator[Deployment]:
    """Like any other, on the brokers that ask; its log is searched for the password when it ends."""
    ways = {
        "password": secured.password_settings("SCRAM-SHA-512"),
        "certificate": secured.certificate_settings(),
        "token": secured.token_settings(),
    }
    way = load(**ways[request.param])
    given = {name: getattr(way, name) for name in type(way).model_fields if name.startswith("kafka_")}
    few = {"conversation_partitions": 2, "namespace_partitions": 2, "bootstrap_servers": way.bootstrap_servers}
    async with deployed(embedded_stack, "secured", tmp_path, **few, **given) as made:
        yield made


async def over_its_token(deployment: Deployment) -> None:
    """With tokens: until the brokers have ended the worker's connections, whose token is over."""
    if deployment.settings.kafka_sasl_mechanism != "OAUTHBEARER":
        return

    async def ended() -> bool:
        return "KafkaConnectionError" in (deployment.directory / "second.log").read_text()

    await eventually(ended, "connections end with their token")


async def test_a_worker_creates_memories_over_an_encrypted_connection_and_the_command_line_shows_them(
    deployment: Deployment,
):
    """All stages: consumers on Faust's threads, transactions of checkpoints, the changelog after a restart, the outbox.
    And the API, which publishes commands."""
    worker = await deployment.worker()
    await deployment.publish(message("c", 1, SAID, app_id="a", user_id="u"))

    async def stored() -> bool:
        return await deployment.count("messages") == 1 and not any((await deployment.lags()).values())

    await eventually(stored, "the message is archived, and in its window")
    await worker.stop()
    await deployment.worker("second")
    await over_its_token(deployment)
    await deployment.publish(end("c", message_count=1))

    async def events() -> list[dict[str, Any]]:
        return await deployment.values(topics.EVENTS)

    (event,) = await eventually(events, "a memory of what was said before the restart is published")
    assert "peanuts" in event["data"]["memory"]["text"]

    async def command(*args: str, **changed: Any) -> Done:
        return await asyncio.to_thread(run, deployment.settings, deployment.directory, *args, **changed)

    assert [line["data"] for line in lines(await command("events", "--json"))] == [event["data"]]
    findings = {line["name"]: line for line in lines(await command("doctor", "--json"))}
    assert [name for name, line in findings.items() if not line["ok"]] == []

    async with httpx.AsyncClient(base_url=await deployment.api(), timeout=60) as api:
        made = await api.post("/v1/memories", json={"namespace": "a/u", "text": "User plays chess."})
        assert made.status_code == 201, made.text  # the API publishes the command, the worker carries it out


async def test_the_command_line_explains_a_failed_authentication_with_the_settings_to_check(
    embedded_stack: EmbeddedStack, secured: Secured, tmp_path: Path
):
    settings = load(**secured.password_settings("SCRAM-SHA-512") | {"data_dir": tmp_path})
    done = await asyncio.to_thread(run, settings, tmp_path, "doctor", kafka_password=f"not-{PASSWORD[:4]}")
    broker = next(line for line in done.stdout.splitlines() if " broker:" in line)
    assert "Authentication failed" in broker and "MEMSTREAM_KAFKA_..." in broker
    assert (done.returncode, done.stderr) == (1, "")
