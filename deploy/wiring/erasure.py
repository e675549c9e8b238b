"""Wires the completion of erasures, and the report of data left in Kafka."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from agents.erasure.complete import ErasureAgent
from agents.erasure.dead_letters import is_covered, settled_offset
from deploy.settings import Settings
from deploy.wiring.clock import now
from deploy.wiring.stage_parts import Wiring
from schemas.erasure.erasures import Erasure
from schemas.erasure.receipts import Remains, RemainsCode
from schemas.kafka import topics
from schemas.policies.policies import PolicySelector
from sinks.erasure.erasures import Erasures
from sinks.erasure.owners import Owners
from streams.delivery.ledger import TRUSTED_S
from streams.kafka.record_removal import remove_records
from streams.kafka.topics import settings_of

COMPLETE_S: Final = 0.25
OLD_STORES_S: Final = 600.0  # interval of checks for stores of partitions that other workers hold now
NO_BOUND_MS: Final = 2**62  # Kafka's value for "never" is 2^63 - 1

# Conversation data in each topic, and the topic setting by which it is deleted.
TOPIC_CONTENTS: Final[dict[str, tuple[RemainsCode, str]]] = {
    topics.MESSAGES: ("messages", "messages as published"),
    topics.ENDED: ("ends", "ids of conversations, and the senders' metadata"),
    topics.REQUESTS: ("requests", "messages in requests to models"),
    topics.CANDIDATES: ("candidates", "memories proposed by models"),
    topics.COMMANDS: ("commands", "memories in commands"),
    topics.EVENTS: ("events", "texts of memories from before their erasure"),
    topics.WINDOW_CONTROL: ("summaries", "summaries of messages removed from contexts"),
    topics.ACTIVITY: ("activity", "ids of conversations and messages, without texts"),
}
# The entries that may hold a memory or its source messages.
MEMORY_CODES: Final = frozenset(("messages", "requests", "candidates", "commands", "events", "overwritten"))
OVERWRITTEN: Final[tuple[RemainsCode, str]] = (
    "overwritten",
    "overwritten rows, which compaction has not deleted yet",
)


class KafkaDeadLetters:
    """The topic of dead letters on the cluster."""

    def __init__(self, settings: Settings, policies: PolicySelector) -> None:
        self._settings = settings
        self._policies = policies

    async def erase(self, erasure: Erasure, conversations: frozenset[str], namespaces: frozenset[str]) -> int:
        """Removes the erasure's dead letters from the topic. Raises Retryable."""
        names = self._settings.topics()
        return await remove_records(
            self._settings.cluster().client(),
            names.physical(topics.DEAD_LETTERS),
            names.namespace_partitions,
            lambda record: is_covered(record, erasure, conversations, namespaces, self._policies),
            settled_offset,
            names.own_message_bytes,
        )


def add_completing(wiring: Wiring) -> None:
    settings = wiring.settings
    completing = ErasureAgent(
        Erasures(wiring.pool),
        KafkaDeadLetters(settings, wiring.policies),
        wiring.publisher,
        wiring.policies,
        now,
        partitions=settings.conversation_partitions,
        named=Owners(wiring.pool).all_namespaces_naming,
        remains=partial(remains, settings),
    )
    wiring.periodic_tasks.add("erasures", COMPLETE_S, completing.tick)


async def remains(settings: Settings, at: datetime) -> Sequence[Remains]:
    """Data left in Kafka, by the cluster's topic settings. Raises Retryable."""
    names = settings.topics()
    holds = {names.physical(topic): said for topic, said in TOPIC_CONTENTS.items()}
    compacted = (names.physical(topics.STATE), names.changelog)
    found = await settings_of(settings.cluster().client(), [*holds, *compacted])
    kept = [remains_of_topic(topic, said, found.get(topic, {}), at, code) for topic, (code, said) in holds.items()]
    code, content = OVERWRITTEN
    overwritten = [remains_of_topic(topic, content, found.get(topic, {}), at, code) for topic in compacted]
    return [*kept, unused_stores(at), *overwritten]


async def remains_of_memory(settings: Settings, at: datetime) -> Sequence[Remains]:
    """Data of one memory left in Kafka. Raises Retryable."""
    return [each for each in await remains(settings, at) if each.code in MEMORY_CODES]


def unused_stores(at: datetime) -> Remains:
    """The entry of a receipt for local stores of workers that held the windows' partitions before."""
    return Remains(
        topic="local stores of earlier owners of its windows",
        holds="old rows, which are not read any more",
        because=f"deleted when not owned for {TRUSTED_S:.0f} s; a stopped worker deletes its own when it starts",
        until=at + timedelta(seconds=TRUSTED_S + OLD_STORES_S),
        code="local_stores",
    )


def remains_of_topic(
    topic: str, holds: str, kept: dict[str, str], at: datetime, code: RemainsCode | None = None
) -> Remains:
    """The time for which a topic keeps data. Kafka deletes whole segments, which close after `segment.ms` at the latest; it
    compacts closed segments, and closes one for compaction after `max.compaction.lag.ms`."""
    compacted = kept.get("cleanup.policy", "") == "compact"
    names = ["max.compaction.lag.ms"] if compacted else ["retention.ms", "segment.ms"]
    values = [int(kept.get(name, -1)) for name in names]
    unbound = any(value < 0 or value > NO_BOUND_MS for value in values)
    until = None if unbound else at + timedelta(milliseconds=sum(values))
    because = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
    return Remains(topic=topic, holds=holds, because=because, until=until, code=code)
