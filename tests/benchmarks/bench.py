"""Shared setup of the Kafka benchmarks: one broker, jobs on it, and topics that are filled before they are read."""

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from msgspec import Struct

from deploy.embedded.kafka.broker import EmbeddedBroker
from schemas.kafka.records import Outgoing
from streams.kafka.publisher import KafkaPublisher
from streams.kafka.topics import TopicSpec, create, specs
from tests.benchmarks.memstream_pipeline import topics_of
from tests.benchmarks.signals import Job

PARTITIONS = 8  # memstream's own default
AT_ONCE = 1_000  # records published together


class Bench(Struct, frozen=True):
    """A running broker and a directory that is removed in the end."""

    bootstrap_servers: str
    admin: AIOKafkaAdminClient
    directory: Path

    def job(self, prefix: str, run: str) -> Job:
        """Topics under a prefix, with a separate group and directory."""
        return Job(
            bootstrap_servers=self.bootstrap_servers,
            prefix=prefix,
            run=run,
            partitions=PARTITIONS,
            directory=str(self.directory / f"{prefix}{run}"),
        )

    async def create(self, job: Job, *changelogs: str) -> None:
        """memstream's topics for a job, and changelogs of others that are just like memstream's."""
        own = specs(topics_of(job))
        others = [
            TopicSpec(name, job.partitions, own[-1].retention_days, own[-1].max_message_bytes) for name in changelogs
        ]
        await create({"bootstrap_servers": self.bootstrap_servers}, [*own, *others], 1)

    def publisher(self, job: Job) -> KafkaPublisher:
        return KafkaPublisher({"bootstrap_servers": self.bootstrap_servers}, topics_of(job).physical)

    async def fill(self, job: Job, records: Iterable[Outgoing]) -> None:
        async with self.publisher(job) as publisher:
            for part in parts(iter(records)):
                await publisher.publish(part)


def parts(records: Iterator[Outgoing]) -> Iterator[list[Outgoing]]:
    while part := list(islice(records, AT_ONCE)):
        yield part


@asynccontextmanager
async def bench(cache_dir: Path) -> AsyncIterator[Bench]:
    """`cache_dir` keeps what is downloaded once."""
    with tempfile.TemporaryDirectory(prefix="memstream-bench-") as made:
        broker = EmbeddedBroker(Path(made) / "kafka", cache_dir / "jars")
        await broker.start()
        admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
        try:
            await admin.start()
            yield Bench(broker.bootstrap_servers, admin, Path(made))
        finally:
            await admin.close()
            await broker.stop()
