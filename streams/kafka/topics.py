"""memstream's topics as they are created: partitions, cleanup policy and sizes."""

import asyncio
from collections.abc import Iterable
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code
from msgspec import Struct

from schemas.counts import counted
from schemas.errors import Misconfigured, Retryable
from schemas.kafka import topics as names

DAY_MS = 86_400_000

# The input topics of each stage. Each stage is a consumer group.
STAGES: dict[str, tuple[str, ...]] = {
    "windows": (names.MESSAGES, names.ENDED, names.WINDOW_CONTROL),
    "archive": (names.MESSAGES,),
    "passages": (names.MESSAGES,),
    "extraction": (names.REQUESTS,),
    "curation": (names.CANDIDATES, names.COMMANDS),
}

WINDOWS_TABLE = "state"
IN_SYNC = 2  # of three replicas: with one broker down, confirmed records still survive the loss of another
ONLY_WRITTEN = frozenset({names.EVENTS, names.STATE, names.ACTIVITY, names.DEAD_LETTERS})
TOMBSTONES_KEPT_MS = DAY_MS  # of compacted topics; a worker's store must read its changelog within half of that
OVERWRITTEN_KEPT_MS = DAY_MS  # the maximum for compacted topics: overwritten rows include erased data
LED_WITHIN_S = 60.0
RETRY_S = 0.1


class TopicSettings(Struct, frozen=True, kw_only=True):
    """Topic settings of a deployment. Messages, ends and window control are co-partitioned; so are candidates and commands.

    `max_message_bytes` bounds messages of chat services; memstream's own topics allow four times that. `kept_days` overrides
    schemas.kafka.topics.KEPT_DAYS, by logical name.
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
    """A topic to create; `retention_days` None means compaction.

    `in_sync` is min.insync.replicas: with one, a record is lost with that broker's disk. `counted` is False for topics that
    memstream only writes: their number of partitions may differ. Never add partitions to `memory.state`: moved keys would
    leave old states and deleted memories behind.
    """

    name: str
    partitions: int
    retention_days: int | None
    max_message_bytes: int
    counted: bool = True
    in_sync: int = 1

    def configs(self) -> dict[str, str]:
        retention = {
            "cleanup.policy": "compact",
            "delete.retention.ms": str(TOMBSTONES_KEPT_MS),
            "max.compaction.lag.ms": str(OVERWRITTEN_KEPT_MS),
        }
        if self.retention_days is not None:
            retention = {"cleanup.policy": "delete", "retention.ms": str(self.retention_days * DAY_MS)}
        return {
            **retention,
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
    retention, in_sync = names.KEPT_DAYS | settings.kept_days, min(IN_SYNC, settings.replication)
    own = tuple(
        TopicSpec(settings.physical(name), count, retention[name], size, name not in ONLY_WRITTEN, in_sync)
        for name, count, size in listed
    )
    return (*own, TopicSpec(settings.changelog, by_conversation, None, ours, in_sync=in_sync))


async def create(client: dict[str, Any], specs: Iterable[TopicSpec], replication: int) -> list[str]:
    """Creates missing topics and returns their names; existing ones stay as they are. Returns once a broker knows all topics
    and the leader of each partition: brokers may learn of a topic after the controller's answer.

    Raises Retryable, also if that takes longer than a minute, and Misconfigured.
    """
    specs = list(specs)
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        existing = set(await admin.list_topics())
        missing = [spec for spec in specs if spec.name not in existing]
        response = await admin.create_topics(
            [NewTopic(spec.name, spec.partitions, replication, topic_configs=spec.configs()) for spec in missing]
        )
        for name, code, *rest in response.topic_errors:
            if code and for_code(code) is not TopicAlreadyExistsError:
                raise Misconfigured(f"topic {name} cannot be created: {rest[0] if rest else for_code(code).__name__}")
        await wait_for_leaders(admin, [spec.name for spec in specs])
    except (KafkaError, OSError, TimeoutError) as exc:
        raise Retryable(f"cannot create topics: {exc!r}") from exc
    finally:
        await admin.close()
    return [spec.name for spec in missing]


async def wait_for_leaders(admin: AIOKafkaAdminClient, topics: list[str]) -> None:
    """Returns once a broker knows a leader of every partition of these topics. Raises KafkaError, and TimeoutError."""
    async with asyncio.timeout(LED_WITHIN_S):
        while True:
            described = await admin.describe_topics(topics)
            leaders = [partition["leader"] for topic in described for partition in topic["partitions"]]
            if min(leaders, default=0) >= 0 and not any(topic["error_code"] for topic in described):
                return
            await asyncio.sleep(RETRY_S)


async def partition_counts(client: dict[str, Any], specs: Iterable[TopicSpec]) -> dict[str, int]:
    """The number of partitions of each topic; 0 for a missing one. Raises Retryable."""
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        existing = set(await admin.list_topics())
        present = [spec.name for spec in specs if spec.name in existing]
        described = await admin.describe_topics(present) if present else []
        found = {topic["topic"]: len(topic["partitions"]) for topic in described}
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot describe topics: {exc!r}") from exc
    finally:
        await admin.close()
    return {spec.name: found.get(spec.name, 0) for spec in specs}


async def changelog_problems(client: dict[str, Any], changelog: str) -> list[str]:
    """Problems of an existing changelog's settings, one sentence each with its remedy. Raises Retryable."""
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        answers = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, changelog)])
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot describe {changelog}: {exc!r}") from exc
    finally:
        await admin.close()
    configs = {entry[0]: entry[1] for answer in answers for resource in answer.resources for entry in resource[4]}
    problems_found = []
    if (policy := configs.get("cleanup.policy", "compact")) != "compact":
        problems_found.append(
            f"changelog {changelog} has cleanup.policy={policy}, which loses windows: set it to compact"
        )
    if int(configs.get("delete.retention.ms", TOMBSTONES_KEPT_MS)) < TOMBSTONES_KEPT_MS:
        problems_found.append(
            f"changelog {changelog} has delete.retention.ms={configs['delete.retention.ms']}, in which a worker's store may miss "
            f"deletions: set it to {TOMBSTONES_KEPT_MS} or more"
        )
    return problems_found


async def settings_of(client: dict[str, Any], topics: Iterable[str]) -> dict[str, dict[str, str]]:
    """The settings of existing topics, by topic. Raises Retryable."""
    admin = AIOKafkaAdminClient(**client)
    try:
        await admin.start()
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in topics]
        answers = await admin.describe_configs(resources)
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot describe topics: {exc!r}") from exc
    finally:
        await admin.close()
    return {
        resource[3]: {entry[0]: entry[1] for entry in resource[4]}
        for answer in answers
        for resource in answer.resources
    }


def problems(specs: Iterable[TopicSpec], found: dict[str, int]) -> list[str]:
    """Problems of a cluster's topics, one sentence each with its remedy."""
    problems_found = []
    for spec in specs:
        count = found.get(spec.name, 0)
        if count == 0:
            problems_found.append(f"topic {spec.name} is missing: run `memstream topics create`")
        elif spec.counted and count != spec.partitions:
            problems_found.append(
                f"topic {spec.name} has {counted(count, 'partitions')}, the settings say {spec.partitions}: "
                "set the partition settings to what the cluster has"
            )
    return problems_found
