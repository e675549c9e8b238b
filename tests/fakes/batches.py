"""Records as aiokafka reads them, and batches as agents receive them."""

from collections.abc import Sequence
from typing import Any

from aiokafka.structs import ConsumerRecord

from streams.delivery.batch import Batch
from streams.delivery.fence import Fence


def record(
    topic: str,
    offset: int,
    value: bytes | None,
    *,
    partition: int = 0,
    key: bytes | None = b"key",
    headers: Sequence[tuple[str, bytes]] = (),
) -> Any:
    return ConsumerRecord(
        topic=topic,
        partition=partition,
        offset=offset,
        timestamp=1_700_000_000_000 + offset,
        timestamp_type=0,
        key=key,
        value=value,
        checksum=None,
        serialized_key_size=len(key or b""),
        serialized_value_size=len(value or b""),
        headers=tuple(headers),
    )


def batch_of(fence: Fence, topic: str, first: int, values: Sequence[bytes | None], **options: Any) -> Batch:
    """A batch of consecutive records from `first` on; `acked` tells whether it was acknowledged."""
    partition = options.get("partition", 0)
    records = [record(topic, first + index, value, **options) for index, value in enumerate(values)]
    return batch(fence, topic, records, first=first, partition=partition)


def batch(fence: Fence, topic: str, records: list[Any], *, first: int = 0, partition: int = 0) -> Batch:
    end = records[-1].offset + 1 if records else first
    return Batch(topic, partition, records[0].offset if records else first, end, records, fence, lambda: None)
