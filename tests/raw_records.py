"""Publishes records as they are, also with header names that no Python client can write."""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.record.util import calc_crc32c

PLACEHOLDER, NO_NAME = b"QQQQ", b"\xff\xfe\xff\xfe"


class Raw(NamedTuple):
    """A record as it lies in the log."""

    value: bytes | None
    key: bytes | None = b"poison"
    headers: tuple[tuple[str, bytes | None], ...] = ()


UNNAMED: Final = ((PLACEHOLDER.decode(), b"of a header whose name is no UTF-8"),)


async def publish_batch(bootstrap_servers: str, topic: str, records: Sequence[Raw]) -> int:
    """All in one batch of partition 0; returns the offset of the first.

    A header's name that is no UTF-8, as clients in C can send, is written into the finished batch.
    """
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap_servers, max_batch_size=1_000_000)
    await producer.start()
    try:
        batch = producer.create_batch()
        for each in records:
            appended = batch.append(key=each.key, value=each.value, timestamp=None, headers=list(each.headers))
            assert appended is not None, "the batch is full"
        batch.close()
        data = bytearray(bytes(batch._build()).replace(PLACEHOLDER, NO_NAME))
        struct.pack_into(">I", data, 17, calc_crc32c(bytes(data[21:])))
        batch._buffer = bytes(data)
        meta = await (await producer.send_batch(batch, topic, partition=0))
        return int(meta.offset)
    finally:
        await producer.stop()
