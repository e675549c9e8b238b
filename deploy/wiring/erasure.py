"""Wires what takes erasures to their end, and what says of Kafka what it still holds."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from agents.erasure.complete import ErasureAgent
from agents.erasure.dead_letters import concerns, settles
from deploy.runtime.data_directories import OLD_STORES_S
from deploy.settings import Settings
from deploy.wiring.stage_parts import Wiring, now
from schemas.erasure.erasures import Erasure
from schemas.erasure.receipts import Remains
from schemas.kafka import topics
from schemas.policies.policies import PolicySelector
from sinks.erasure.erasures import Erasures
from sinks.erasure.owners import Owners
from streams.delivery.ledger import TRUSTED_S
from streams.kafka.rewriting import remove_records
from streams.kafka.topics import settings_of

COMPLETE_S: Final = 0.25
NO_BOUND_MS: Final = 2**62  # what Kafka has for "never" is 2^63 - 1

# What each topic may hold of what was said, and by which of its settings that goes.
HOLDS: Final = {
    topics.MESSAGES: "what was said, as it was published",
    topics.ENDED: "ids of conversations, and whatever senders put into metadata",
    topics.REQUESTS: "messages on their way to a model",
    topics.CANDIDATES: "what models found, before it was decided upon",
    topics.COMMANDS: "memories that were commanded",
    topics.EVENTS: "what memories said until they were erased",
    topics.WINDOW_CONTROL: "summaries of messages that left a context",
    topics.ACTIVITY: "ids of conversations and messages, no words",
}
OVERWRITTEN: Final = "rows that a later one stands for: whoever reads it to the end finds none of them"


class KafkaLetters:
    """The topic of dead letters on the cluster."""

    def __init__(self, settings: Settings, policies: PolicySelector) -> None:
        self._settings = settings
        self._policies = policies

    async def erase(self, erasure: Erasure, conversations: frozenset[str], namespaces: frozenset[str]) -> int:
        """Raises Retryable."""
        names = self._settings.topics()
        return await remove_records(
            self._settings.cluster().client(),
            names.physical(topics.DEAD_LETTERS),
            names.namespace_partitions,
            lambda record: concerns(record, erasure, conversations, namespaces, self._policies),
            settles,
            names.own_message_bytes,
        )


def add_completing(wiring: Wiring) -> None:
    settings = wiring.settings
    completing = ErasureAgent(
        Erasures(wiring.pool),
        KafkaLetters(settings, wiring.policies),
        wiring.publisher,
        wiring.policies,
        now,
        partitions=settings.conversation_partitions,
        named=Owners(wiring.pool).all_namespaces_naming,
        remains=partial(remains, settings),
    )
    wiring.chores.add("erasures", COMPLETE_S, completing.tick)


async def remains(settings: Settings, at: datetime) -> Sequence[Remains]:
    """By the topics' settings as the cluster has them. Raises Retryable."""
    names = settings.topics()
    holds = {names.physical(topic): said for topic, said in HOLDS.items()}
    compacted = (names.physical(topics.STATE), names.changelog)
    found = await settings_of(settings.cluster().client(), [*holds, *compacted])
    kept = [remaining(topic, said, found.get(topic, {}), at) for topic, said in holds.items()]
    return [*kept, resting(at), *(remaining(topic, OVERWRITTEN, found.get(topic, {}), at) for topic in compacted)]


def resting(at: datetime) -> Remains:
    """Of those who held the windows' partitions before, and may hold them again."""
    return Remains(
        topic="local stores of workers that held its windows before",
        holds="rows of before, which nothing reads",
        because=f"not held for {TRUSTED_S:.0f} s; a worker that does not run does it when it starts",
        until=at + timedelta(seconds=TRUSTED_S + OLD_STORES_S),
    )


def remaining(topic: str, holds: str, kept: dict[str, str], at: datetime) -> Remains:
    """Kafka deletes whole segments, which are closed after `segment.ms` at the latest; it compacts closed ones, and closes one
    for that after `max.compaction.lag.ms`."""
    compacted = kept.get("cleanup.policy", "") == "compact"
    names = ["max.compaction.lag.ms"] if compacted else ["retention.ms", "segment.ms"]
    values = [int(kept.get(name, -1)) for name in names]
    unbound = any(value < 0 or value > NO_BOUND_MS for value in values)
    until = None if unbound else at + timedelta(milliseconds=sum(values))
    because = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
    return Remains(topic=topic, holds=holds, because=because, until=until)
