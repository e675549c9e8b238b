"""Wires a rebuild of PostgreSQL from Kafka and Qdrant from PostgreSQL, and checks its preconditions."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping

from msgspec import Struct

from agents.rebuild.rebuilder import Rebuild
from deploy.settings import Settings
from deploy.wiring import connections, passages, vector_index
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from schemas.counts import counted
from schemas.errors import Misconfigured
from sinks.postgres.migrate import pending
from sinks.rebuild.rebuilds import Rebuilds
from sinks.vectors.reindex import Reindexed, reindex
from streams.kafka.consumer_groups import ConsumerGroups
from streams.kafka.log import Chunk, Log
from streams.kafka.topics import STAGES, TopicSettings

STATEMENT_S = 3_600.0  # timeout: the last step runs a few statements over all memories
REPORT_EVERY_S = 5.0

Say = Callable[[str], object]


class Rebuilt(Struct, frozen=True, kw_only=True):
    """The numbers of records read and unreadable, the counts of the rebuilt database, and the result of reindexing."""

    records: int
    unreadable: int
    memories: int
    namespaces: int
    versions: int
    index: Reindexed


class NamedLog:
    """A Log that takes logical topic names."""

    def __init__(self, log: Log, names: TopicSettings) -> None:
        self._log = log
        self._names = names

    async def beginnings(self, topic: str) -> dict[int, int]:
        return await self._log.beginnings(self._names.physical(topic))

    def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]:
        return self._log.chunks(self._names.physical(topic), positions)


async def rebuild(settings: Settings, *, onto_backup: bool, say: Say) -> Rebuilt:
    """Rebuilds everything. Raises Misconfigured naming a missing precondition, and Retryable."""
    if missing := await pending(settings.postgres_dsn.get_secret_value()):
        raise Misconfigured(f"PostgreSQL lacks {counted(len(missing), 'migrations')}: run `memstream migrate`")
    await vector_index.check_local_only_by_topic(settings)
    names = settings.topics()
    log = Log(settings.cluster().client(), names.own_message_bytes)
    groups = ConsumerGroups(settings.cluster().client())

    async def require_no_workers() -> None:
        if working := await groups.with_members([names.group(stage) for stage in STAGES]):
            raise Misconfigured(
                f"workers are running ({', '.join(working)}): stop them, because a rebuild loses what they decide meanwhile"
            )

    policies = policies_in_effect(settings, await stored_policies(settings))
    async with (
        connections.postgres(settings, max_size=4, command_timeout_s=STATEMENT_S) as pool,
        vector_index.embedders(settings) as embedders,
        vector_index.qdrant(settings, await embedders.of_memories()) as vectors,
    ):
        running_rebuild = Rebuild(
            pool, NamedLog(log, names), policies, RebuildProgress(say), require_no_workers=require_no_workers
        )
        read = await running_rebuild.run(onto_backup=onto_backup)
        say("PostgreSQL has the records of Kafka; writing Qdrant")
        index = await reindex(pool, vectors, await embedders.of_memories())
        await passages.reindex(settings, pool, await embedders.of_passages(), policies, say)
        totals = await Rebuilds(pool).end()
    return Rebuilt(
        records=read.records,
        unreadable=read.unreadable,
        memories=totals.memories,
        namespaces=totals.namespaces,
        versions=totals.versions,
        index=index,
    )


class RebuildProgress:
    """Prints progress every few seconds."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._at = time.monotonic()

    def __call__(self, topic: str, records: int) -> None:
        if time.monotonic() - self._at >= REPORT_EVERY_S:
            self._at = time.monotonic()
            self._say(f"{topic}: {counted(records, 'records')} read")
