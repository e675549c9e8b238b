"""Settings of an embedded Kafka node: small, on loopback only, otherwise as in a cluster."""

import base64
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deploy.embedded.ports import LOOPBACK

# With Faust batches and memory events well below it; brokers default to 1 MiB.
MESSAGE_MAX_BYTES = 4 * 1024 * 1024
DEFAULT_PARTITIONS = 4

JVM_OPTIONS = (
    "-Xms64m",
    "-Xmx256m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    # Suppresses JVM warnings about native code of scala and zstd on Java 25.
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)

LOG4J = """status=error
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName={log}
appender.file.filePattern={log}.%i
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d{{ISO8601}} %p %c{{1}}: %m%n
appender.file.policies.type=Policies
appender.file.policies.size.type=SizeBasedTriggeringPolicy
appender.file.policies.size.size=10MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.max=2
rootLogger.level=warn
rootLogger.appenderRef.file.ref=file
logger.server.name=kafka.server.KafkaRaftServer
logger.server.level=info
"""

TOOL_LOG4J = """status=error
appender.console.type=Console
appender.console.name=console
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%p %m%n
rootLogger.level=error
rootLogger.appenderRef.console.ref=console
"""


@dataclass(frozen=True)
class Listener:
    """A further listener with encryption or authentication.

    `protocol` is Kafka's (SSL, SASL_SSL, ...); `settings` are those of the listener, without their prefix.
    """

    name: str
    protocol: str
    port: int
    settings: dict[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        return {f"listener.name.{self.name.lower()}.{key}": value for key, value in self.settings.items()}


def server_properties(data: Path, port: int, controller_port: int, further: Sequence[Listener] = ()) -> str:
    """The properties of KRaft combined mode: one process is broker and controller."""
    own = [f"PLAINTEXT://{LOOPBACK}:{port}", *(f"{each.name}://{LOOPBACK}:{each.port}" for each in further)]
    protocols = {"CONTROLLER": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT"} | {each.name: each.protocol for each in further}
    settings: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller_port}",
        "listeners": ",".join((*own, f"CONTROLLER://{LOOPBACK}:{controller_port}")),
        "advertised.listeners": ",".join(own),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": data,
        "num.partitions": DEFAULT_PARTITIONS,
        "auto.create.topics.enable": "false",
        "message.max.bytes": MESSAGE_MAX_BYTES,
        "replica.fetch.max.bytes": MESSAGE_MAX_BYTES,
        # With one node, internal topics cannot have more replicas.
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 1,
        # Consumer groups start without waiting for further members.
        "group.initial.rebalance.delay.ms": 0,
        # Time after a crash until the controller accepts the same broker again (default 9 s).
        "broker.session.timeout.ms": 4000,
        "broker.heartbeat.interval.ms": 500,
        # The default allocates 128 MiB of heap for the cleaner.
        "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "background.threads": 2,
    }
    for each in further:
        settings |= each.properties()
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def new_cluster_id() -> str:
    """A random id as Kafka makes it: 16 bytes in URL-safe base64, without a leading `-`."""
    while True:
        encoded = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not encoded.startswith("-"):
            return encoded
