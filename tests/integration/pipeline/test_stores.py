"""Workers' stores on Apache Kafka: recovery, locks of data directories, rejected changelogs."""

import random
import re
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from deploy.wiring import connections
from streams.kafka.topics import changelog_problems
from tests.chaos.conversations import conversations, events
from tests.chaos.ledger import balance
from tests.chaos.workers import WorkerProcess
from tests.deployment import Deployment, Event, eventually

RESTORED = re.compile(r"partition (\d+) is restored from offset (\d+) of (\d+) to (\d+)")


def as_published(records: list[Any]) -> list[Event]:
    return [Event(record.topic, record.key.decode(), record.value) for record in records]


def restored(worker: WorkerProcess) -> dict[int, tuple[int, int]]:
    """(offset begun at, end) by partition, of a worker's last life."""
    found = [RESTORED.search(line) for line in worker.log_lines()]
    return {int(line[1]): (int(line[2]), int(line[4])) for line in found if line}


async def read_everything(deployment: Deployment) -> None:
    async def nothing_left() -> bool:
        return (await deployment.lags())["windows"] == 0

    await eventually(nothing_left, "the windows stage has read everything", 120.0)


async def test_a_killed_worker_restores_its_rows_and_reads_only_the_missing_changelog_records(deploy):
    deployment = await deploy("stores")
    said = conversations(40, (6, 12), random.Random(4))
    spoken = [events(each) for each in said]
    worker = await deployment.worker()
    await deployment.publish(*as_published([record for each in spoken for record in each[:-1]]))
    await read_everything(deployment)
    worker.kill()
    worker.forget_log()
    worker.start()
    await worker.wait_ready()
    begun = restored(worker)
    assert begun.keys() == {0, 1}
    for start, end in begun.values():
        assert 0 < start <= end  # what the last transaction brought may have been on its way to the store
    await deployment.publish(*as_published([each[-1] for each in spoken]))
    await deployment.settled()
    async with connections.postgres(deployment.settings, max_size=2) as pool:
        ledger = await balance(deployment.settings, pool, said)
    assert (ledger.lost, ledger.duplicated) == ([], [])


async def test_workers_sharing_a_data_directory_use_separate_subdirectories(deploy):
    deployment = await deploy("slots")
    first = await deployment.worker("shared", stages=["windows"])
    second = WorkerProcess("shared", deployment.settings, deployment.directory, ["windows"])
    second.ready_file = deployment.directory / "second.ready"
    second.start()
    try:
        await second.wait_ready()
        assert (await second.stop(), await first.stop()) == (0, 0)
    finally:
        if second.running:
            second.kill()
    slots = deployment.directory / "shared" / "worker"
    assert sorted(path.name for path in slots.iterdir()) == ["0", "1"]


async def test_a_changelog_topic_that_would_lose_windows_is_rejected_with_the_remedy(deploy):
    deployment = await deploy("refused")
    changelog = deployment.settings.topics().changelog
    wrong = {"cleanup.policy": "compact,delete", "delete.retention.ms": "60000"}
    admin = AIOKafkaAdminClient(bootstrap_servers=deployment.settings.bootstrap_servers)
    await admin.start()
    try:
        await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, changelog, wrong)])
    finally:
        await admin.close()
    client = deployment.settings.cluster().client()
    await eventually(lambda: changelog_problems(client, changelog), "the broker goes by the new settings")
    worker = deployment.start_worker(stages=["windows"])

    async def ended() -> bool:
        return not worker.running

    await eventually(ended, "the worker has ended", 60.0)
    said = "\n".join(worker.log_lines())
    assert worker.exit_code == 1
    assert f"{changelog} has cleanup.policy=compact,delete, which loses windows: set it to compact" in said
    assert f"{changelog} has delete.retention.ms=60000" in said
