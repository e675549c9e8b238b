"""Kafka's settings for one embedded node: small, loopback only, otherwise what a cluster does."""

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
    # Silences the JVM about scala and zstd calling native code on Java 25.
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
    """A further listener, as clusters have them: encrypted, or for clients that say who they are.

    `protocol` is Kafka's (SSL, SASL_SSL, ...); `settings` are the listener's, without their prefix.
    """

    name: str
    protocol: str
    port: int
    settings: dict[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        return {f"listener.name.{self.name.lower()}.{key}": value for key, value in self.settings.items()}


def server_properties(data: Path, port: int, controller_port: int, further: Sequence[Listener] = ()) -> str:
    """KRaft combined mode: one process is broker and controller."""
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
        # There is one node: internal topics cannot have more copies.
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 1,
        # No waiting for further members: nobody else is coming.
        "group.initial.rebalance.delay.ms": 0,
        # After a crash the controller waits this long before it takes the same broker back (default 9 s).
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
    """Random, as Kafka's own: 16 bytes in URL-safe base64 that no option parser takes for a flag."""
    while True:
        encoded = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not encoded.startswith("-"):
            return encoded
