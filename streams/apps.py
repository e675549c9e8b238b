"""One Faust app, and so one consumer group, per stage: so a slow model delays no window, and each stage has its own lag."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import faust
from faust.auth import OAuthCredentials, SASLCredentials, SSLCredentials
from faust.types.auth import CredentialsT

from streams.delivery.app import StageApp
from streams.delivery.batch import BatchSchema
from streams.delivery.changelog import KafkaChangelog
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.store import RocksStore, Stores
from streams.kafka.cluster import ClusterSettings
from streams.kafka.security import Security
from streams.kafka.topics import STAGES, WINDOWS_TABLE, TopicSettings

# The most records of one event: thousands for cheap work, few for calls to models. For curation, the records of an import
# fill several transactions: the next one is embedded while one is decided.
BATCH_RECORDS = {"windows": 4_000, "archive": 500, "passages": 256, "extraction": 8, "curation": 512}


class CheckpointedTable(faust.Table):
    """Registers the changelog with Faust (assignment, co-partitioning). The checkpointer holds the rows.

    Faust's own write path takes some 85 us a row and lets local state run ahead of the changelog. Agents read and write rows
    through the checkpointer's ledgers, one per partition, while they apply a current batch.
    """


def stage_app(
    stage: str, cluster: ClusterSettings, topics: TopicSettings, origins: Mapping[tuple[str, int], int]
) -> StageApp:
    """The app of a stage without its agent. The windows stage has a table and a checkpointer."""
    partitioned_by_conversation = stage != "curation"
    partitions = topics.conversation_partitions if partitioned_by_conversation else topics.namespace_partitions
    app = StageApp(
        topics.group(stage),
        origins=origins,
        broker="kafka://" + cluster.bootstrap_servers.replace(",", ";"),
        broker_credentials=credentials(cluster.security),
        datadir=_made(cluster.datadir / stage),
        store="memory://",
        web_enabled=False,
        topic_partitions=partitions,
        topic_disable_leader=True,
        topic_allow_declare=False,
        broker_max_poll_records=BATCH_RECORDS[stage],
        broker_session_timeout=cluster.session_timeout_s,
        broker_heartbeat_interval=cluster.heartbeat_interval_s,
        broker_commit_interval=0.5,
        stream_wait_empty=False,
        stream_buffer_maxsize=4,
        consumer_max_fetch_size=topics.own_message_bytes,
        table_standby_replicas=0,
        Table=CheckpointedTable,
        producer_max_request_size=topics.own_message_bytes,
    )
    if stage == "windows":
        changelog = KafkaChangelog(
            cluster.client(),
            app.conf.id,
            topics.changelog,
            topics.physical,
            max_request_bytes=topics.own_message_bytes,
        )
        app.checkpointer = Checkpointer(
            changelog,
            app.fence,
            app.checkpoint_failed,
            stores=durable(cluster.datadir / "tables" / stage),
            counters=app.counters,
            interval_s=cluster.checkpoint_interval_s,
        )
        app.Table(WINDOWS_TABLE, partitions=partitions, key_type=bytes, value_type=bytes)
    return app


def credentials(security: Security) -> CredentialsT | None:
    """Converts security settings to Faust's credentials. Raises Misconfigured when a certificate file cannot be used."""
    context = security.context() if security.encrypted else None
    if security.by_token:
        return OAuthCredentials(oauth_cb=security.tokens(), ssl_context=context)
    if security.authenticated:
        return SASLCredentials(
            username=security.username, password=security.password, ssl_context=context, mechanism=security.mechanism
        )
    return SSLCredentials(context) if context is not None else None


def input_channel(app: StageApp, stage: str, topics: TopicSettings) -> Any:
    """The channel of the stage's agent: `async for event in stream.noack().events()`, each `event.value` a Batch."""
    return app.topic(*(topics.physical(name) for name in STAGES[stage]), schema=BatchSchema(), partitions=None)


def durable(directory: Path) -> Stores:
    """Opens one database per partition."""
    return lambda partition: RocksStore(directory / str(partition))


def _made(directory: Path) -> Path:
    """Creates the directory and its parents; Faust creates only its own directories."""
    directory.mkdir(parents=True, exist_ok=True)
    return directory
