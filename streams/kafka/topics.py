"""memstream's topics as they are created on a cluster: partitions, clean-up and sizes."""

from collections.abc import Iterable
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code
from msgspec import Struct

from schemas.errors import Misconfigured, Retryable
from schemas.kafka import topics as names

DAY_MS = 86_400_000

# What each stage reads. Each stage is a consumer group.
STAGES: dict[str, tuple[str, ...]] = {
    "windows": (names.MESSAGES, names.ENDED, names.WINDOW_CONTROL),
    "archive": (names.MESSAGES,),
    "passages": (names.MESSAGES,),
    "extraction": (names.REQUESTS,),
    "curation": (names.CANDIDATES, names.COMMANDS),
}

WINDOWS_TABLE = "state"
IN_SYNC = 2  # of three copies: one broker may be away, and what is confirmed outlives another
ONLY_WRITTEN = frozenset({names.EVENTS, names.STATE, names.ACTIVITY, names.DEAD_LETTERS})
TOMBSTONES_KEPT_MS = DAY_MS  # by compacted topics; a worker's store must follow its changelog within half of that
OVERWRITTEN_KEPT_MS = DAY_MS  # at most, by compacted topics: what was erased is among it


class TopicSettings(Struct, frozen=True, kw_only=True):
    """What a deployment chooses. Messages, ends and window control are co-partitioned; so are candidates and commands.

    `max_message_bytes` bounds what chat services publish; memstream's own topics get four times that. `kept_days` replaces what
    schemas.kafka.topics.KEPT_DAYS says of topics, by logical name.
    """

    prefix: str = ""
    conversation_partitions: int = 8
    namespace_partitions: int = 8
    replication: int = 1
    max_message_bytes: int = 1_048_576
    kept_days: dict[str, int] = {}

    def physical(self, name: str) -> str:
        return self.prefix + name

    def group(self, stage: str) -> str:
        """The consumer group (and Faust app id) of a stage."""
        return f"{self.prefix}memstream-{stage}"

    @property
    def changelog(self) -> str:
        """The window table's changelog, as Faust names it."""
        return f"{self.group('windows')}-{WINDOWS_TABLE}-changelog"

    @property
    def own_message_bytes(self) -> int:
        return 4 * self.max_message_bytes


class TopicSpec(Struct, frozen=True):
    """One topic to create; `retention_days` None keeps the latest record of each key (compaction).

    `in_sync` brokers must have a record before it is confirmed: with one, it would be lost with that broker's disk.
    Where memstream only writes, the number of partitions is not `counted`: a cluster may have another. Partitions are never
    added to `memory.state`, where the keys that move would leave their older states, and what was deleted, behind for good.
    """

    name: str
    partitions: int
    retention_days: int | None
    max_message_bytes: int
    counted: bool = True
    in_sync: int = 1

    def configs(self) -> dict[str, str]:
        kept = {
            "cleanup.policy": "compact",
            "delete.retention.ms": str(TOMBSTONES_KEPT_MS),
            "max.compaction.lag.ms": str(OVERWRITTEN_KEPT_MS),
        }
        if self.retention_days is not None:
            kept = {"cleanup.policy": "delete", "retention.ms": str(self.retention_days * DAY_MS)}
        return {
            **kept,
            "max.message.bytes": str(self.max_message_bytes),
            "min.insync.replicas": str(self.in_sync),
        }


def specs(settings: TopicSettings) -> tuple[TopicSpec, ...]:
    """Every topic that memstream reads or writes, with physical names."""
    by_conversation, by_namespace = settings.conversation_partitions, settings.namespace_partitions
    theirs, ours = settings.max_message_bytes, settings.own_message_bytes
    listed = (
        (names.MESSAGES, by_conversation, theirs),
        (names.ENDED, by_conversation, theirs),
        (names.WINDOW_CONTROL, by_conversation, ours),
        (names.REQUESTS, by_conversation, ours),
        (names.CANDIDATES, by_namespace, ours),
        (names.COMMANDS, by_namespace, ours),
        (names.POLICIES, 1, ours),
        (names.EVENTS, by_namespace, ours),
        (names.STATE, by_namespace, ours),
        (names.ACTIVITY, by_namespace, ours),
        (names.DEAD_LETTERS, by_namespace, ours),
    )
    kept, in_sync = names.KEPT_DAYS | settings.kept_days, min(IN_SYNC, settings.replication)
    own = tuple(
        TopicSpec(settings.physical(name), count, kept[name], size, name not in ONLY_WRITTEN, in_sync)
        for name, count, size in listed
    )
    return (*own, TopicSpec(settings.changelog, by_conversation, None, ours, in_sync=in_sync))


async def create(client: dict[str, Any], wanted: Iterable[TopicSpec], replication: int) -> list[str]:
    """Creates what is missing and returns its names; existing topics are left as they are. Raises Retryable."""
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        existing = set(await admin.list_topics())
        missing = [spec for spec in wanted if spec.name not in existing]
        response = await admin.create_topics(
            [NewTopic(spec.name, spec.partitions, replication, topic_configs=spec.configs()) for spec in missing]
        )
        for name, code, *rest in response.topic_errors:
            if code and for_code(code) is not TopicAlreadyExistsError:
                raise Misconfigured(f"topic {name} cannot be created: {rest[0] if rest else for_code(code).__name__}")
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot create topics: {exc!r}") from exc
    finally:
        await admin.close()
    return [spec.name for spec in missing]


async def partition_counts(client: dict[str, Any], wanted: Iterable[TopicSpec]) -> dict[str, int]:
    """Partitions of each topic as the cluster has them; 0 for a topic that is missing. Raises Retryable."""
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        existing = set(await admin.list_topics())
        present = [spec.name for spec in wanted if spec.name in existing]
        described = await admin.describe_topics(present) if present else []
        found = {topic["topic"]: len(topic["partitions"]) for topic in described}
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot describe topics: {exc!r}") from exc
    finally:
        await admin.close()
    return {spec.name: found.get(spec.name, 0) for spec in wanted}


async def changelog_problems(client: dict[str, Any], changelog: str) -> list[str]:
    """What is wrong with how an existing changelog is kept, one sentence each with its remedy. Raises Retryable."""
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        answers = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, changelog)])
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot describe {changelog}: {exc!r}") from exc
    finally:
        await admin.close()
    kept = {entry[0]: entry[1] for answer in answers for resource in answer.resources for entry in resource[4]}
    said = []
    if (policy := kept.get("cleanup.policy", "compact")) != "compact":
        said.append(f"changelog {changelog} has cleanup.policy={policy}, which loses windows: set it to compact")
    if int(kept.get("delete.retention.ms", TOMBSTONES_KEPT_MS)) < TOMBSTONES_KEPT_MS:
        said.append(
            f"changelog {changelog} has delete.retention.ms={kept['delete.retention.ms']}, in which a worker's store may miss "
            f"deletions: set it to {TOMBSTONES_KEPT_MS} or more"
        )
    return said


async def settings_of(client: dict[str, Any], topics: Iterable[str]) -> dict[str, dict[str, str]]:
    """The settings of topics as the cluster has them, by topic. Raises Retryable."""
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        asked = [ConfigResource(ConfigResourceType.TOPIC, name) for name in topics]
        answers = await admin.describe_configs(asked)
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot describe topics: {exc!r}") from exc
    finally:
        await admin.close()
    return {
        resource[3]: {entry[0]: entry[1] for entry in resource[4]}
        for answer in answers
        for resource in answer.resources
    }


def problems(wanted: Iterable[TopicSpec], found: dict[str, int]) -> list[str]:
    """What is wrong with the topics of a cluster, one sentence each with its remedy."""
    said = []
    for spec in wanted:
        count = found.get(spec.name, 0)
        if count == 0:
            said.append(f"topic {spec.name} is missing: run `memstream topics create`")
        elif spec.counted and count != spec.partitions:
            said.append(
                f"topic {spec.name} has {count} partitions, the settings say {spec.partitions}: "
                "set the partition settings to what the cluster has"
            )
    return said
