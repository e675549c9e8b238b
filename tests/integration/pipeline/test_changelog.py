"""The changelog on Apache Kafka: one transaction a checkpoint, fencing of old owners, recovery across control
records."""

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import InvalidProducerEpoch, ProducerFenced

from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from streams.delivery.batch import Batch
from streams.delivery.changelog import Fenced, KafkaChangelog
from streams.delivery.fence import Fence
from streams.delivery.ledger import Checkpoint
from tests.deployment import Deployment


def changelog(deployment: Deployment) -> KafkaChangelog:
    names = deployment.settings.topics()
    client = deployment.settings.cluster().client()
    return KafkaChangelog(client, names.group("windows"), names.changelog, names.physical)


def checkpoint(deployment: Deployment, rows: dict[bytes, bytes | None], end: int, effects: int = 1) -> Checkpoint:
    fence = Fence()
    fence.open()
    batch = Batch(deployment.topic(topics.MESSAGES), 1, end - 1, end, [], fence, lambda: None)
    sent = tuple(Outgoing(topic=topics.REQUESTS, key=b"k", value=b"%d" % end, partition=1) for _ in range(effects))
    return Checkpoint(rows, sent, (batch,))


async def restored(log: KafkaChangelog, start: int = 0) -> tuple[dict[bytes, bytes | None], int]:
    """The rows of partition 1 from an offset on, and the offset after them."""
    found: dict[bytes, bytes | None] = {}
    ends = [start]

    def restore(_: int, rows: dict[bytes, bytes | None], offset: int) -> None:
        found.update(rows)
        ends.append(offset)

    await log.read([1], lambda *_: start, restore)
    return found, ends[-1]


async def test_rows_outputs_and_offsets_commit_atomically_and_the_returned_offset_follows_the_last_row(deploy):
    deployment = await deploy("changelog")
    log = changelog(deployment)
    await log.open([1])
    large = {b"row-%03d" % number: b"x" * 4_000 for number in range(200)}  # several record batches
    assert await log.commit(1, checkpoint(deployment, large, 7)) == 200
    assert await log.commit(1, checkpoint(deployment, {b"row-000": None}, 8)) == 202  # a marker lies between
    rows, end = await restored(log)
    assert rows == large | {b"row-000": None}
    assert end == 203  # behind the last marker, which is never delivered
    assert await restored(log, 202) == ({}, 203)
    assert [record.value for record in await deployment.records(topics.REQUESTS)] == [b"7", b"8"]
    await log.close()


async def test_a_former_owner_is_fenced_and_its_open_transaction_never_becomes_visible(deploy):
    deployment = await deploy("fenced")
    old, new = changelog(deployment), changelog(deployment)
    await old.open([1])
    assert await old.commit(1, checkpoint(deployment, {b"a": b"old"}, 1)) == 1
    names, client = deployment.settings.topics(), deployment.settings.cluster().client()
    async with AIOKafkaProducer(**client, transactional_id=f"{names.group('windows')}-1") as stalled:
        await stalled.begin_transaction()
        await stalled.send_and_wait(names.changelog, key=b"a", value=b"never", partition=1)
        await new.open([1])  # while it is stopped in the middle of a checkpoint
        assert await restored(new) == ({b"a": b"old"}, 4)
        assert await new.commit(1, checkpoint(deployment, {b"a": b"new"}, 2)) == 5
        with pytest.raises((ProducerFenced, InvalidProducerEpoch)):
            await stalled.commit_transaction()
    with pytest.raises(Fenced):
        await old.commit(1, checkpoint(deployment, {b"a": b"old again"}, 3))
    assert (await restored(new))[0] == {b"a": b"new"}
    assert [record.value for record in await deployment.records(topics.REQUESTS)] == [b"1", b"2"]
    await old.close()
    await new.close()
