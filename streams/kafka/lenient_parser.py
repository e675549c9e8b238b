"""Reads records that aiokafka cannot parse: those with header names that are not UTF-8.

Kafka takes any bytes as a header's name, and C clients send them. aiokafka's parser is strict and starts at the first record
of a batch, so one such name hides every record behind it in the batch.
"""

from collections.abc import Collection
from itertools import islice
from typing import Any

import aiokafka
from aiokafka import TopicPartition
from aiokafka.consumer.fetcher import PartitionRecords
from aiokafka.errors import CorruptRecordException, KafkaError, LeaderNotAvailableError, for_code
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.record.default_records import DefaultRecordBatch, _DefaultRecordBatchPy, _DefaultRecordPy
from aiokafka.record.memory_records import _MemoryRecordsPy
from aiokafka.record.util import decode_varint

# Raised for a header name that is not UTF-8: one by aiokafka's parser in C, the other by its parser in Python.
UNPARSED = (UnicodeDecodeError, CorruptRecordException)


async def getmany(
    consumer: aiokafka.AIOKafkaConsumer, *tps: TopicPartition, timeout_ms: int, max_records: int | None = None
) -> dict[TopicPartition, list[Any]]:
    """The next records, as from the consumer's own `getmany`, which raises for one with an illegible header name and for all
    after it. Raises KafkaError."""
    wanted = set(tps) or consumer.assignment()
    before = {tp: offset for tp in wanted if (offset := position(consumer, tp)) is not None}
    try:
        fetched: dict[TopicPartition, list[Any]] = await consumer.getmany(
            *tps, timeout_ms=timeout_ms, max_records=max_records
        )
        return fetched
    except UNPARSED as exc:
        failed = unparsed(consumer, wanted)
        if failed is None or len(before) < len(wanted):  # assigned or placed meanwhile: nobody knows what was read
            raise KafkaError("a record could not be parsed while partitions were assigned") from exc
    for tp, offset in before.items():
        if tp != failed and position(consumer, tp) not in (None, offset):
            consumer.seek(tp, offset)  # its records were read, and are lost with the error
    start = before[failed]
    found = await fetch(consumer, failed, start)
    records = list(islice(found, max_records or consumer._max_poll_records))
    consumer.seek(failed, found.next_fetch_offset)
    return {failed: records}


def unparsed(consumer: aiokafka.AIOKafkaConsumer, tps: Collection[TopicPartition]) -> TopicPartition | None:
    """The partition whose records raised one of UNPARSED. A drain reads partitions in order and removes those that are read: the
    first remaining one failed."""
    return next((tp for tp in consumer._fetcher._records if tp in tps), None)


def position(consumer: aiokafka.AIOKafkaConsumer, tp: TopicPartition) -> int | None:
    """The offset of the partition's next record; None if it is not assigned or not known yet."""
    assignment = consumer._subscription.subscription and consumer._subscription.subscription.assignment
    if assignment is None or tp not in assignment.tps:
        return None
    state = assignment.state_value(tp)
    return state._position if state.has_valid_position else None


async def fetch(consumer: aiokafka.AIOKafkaConsumer, tp: TopicPartition, offset: int) -> PartitionRecords:
    """An iterator of the partition's records from `offset`, under the consumer's own limits; empty if there are none.

    Its `next_fetch_offset` is valid after iterating: aborted transactions, control batches and holes are skipped as usual.
    Iterating raises CorruptRecordException. Raises KafkaError when the leader is unknown or does not answer.
    """
    fetcher, client = consumer._fetcher, consumer._client
    leader = client.cluster.leader_for_partition(tp)
    if leader is None or leader == -1:
        raise LeaderNotAvailableError(tp)
    request = FetchRequest(
        fetcher._fetch_max_wait_ms,
        fetcher._fetch_min_bytes,
        fetcher._fetch_max_bytes,
        fetcher._isolation_level,
        [(tp.topic, [(tp.partition, offset, fetcher._max_partition_fetch_bytes)])],
    )
    answer = await client.send(leader, request)
    ((_, ((_, code, _, *rest),)),) = answer.topics
    if code:
        raise for_code(code)(tp)
    aborted = rest[-3] if answer.API_VERSION >= 11 else rest[-2]  # since version 11 the preferred replica is in between
    records, level = LegibleRecords(rest[-1]), fetcher._isolation_level
    return PartitionRecords(tp, records, aborted, offset, None, None, fetcher._check_crcs, level)


class LegibleRecords(_MemoryRecordsPy):
    """The record batches of a fetch's bytes; one that the size limit cut short is left out."""

    def next_batch(self) -> Any:
        data = self._next_slice
        batch = super().next_batch()
        return LegibleBatch(data) if isinstance(batch, DefaultRecordBatch) else batch  # older formats have no headers


class LegibleBatch(_DefaultRecordBatchPy):
    """aiokafka's record batch, except that a header's name may be any bytes: what is not UTF-8 becomes U+FFFD.

    Some 15 times slower than the parser in C, which is why it is not used for everything.
    """

    _pos: int

    def _read_msg(self) -> _DefaultRecordPy:
        size = self._number()
        end = self._pos + size
        self._pos += 1  # attributes: none are defined
        elapsed_ms, offset = self._number(), self.base_offset + self._number()
        key, value = self._field(), self._field()
        headers = [self._header() for _ in range(self._number())]
        if self._pos != end:
            raise CorruptRecordException(f"the record at {offset} ends {self._pos - end} bytes after its {size}")
        by_broker = self.timestamp_type == self.LOG_APPEND_TIME
        timestamp = self.max_timestamp if by_broker else self.first_timestamp + elapsed_ms
        return _DefaultRecordPy(offset, timestamp, self.timestamp_type, key, value, headers)

    def _header(self) -> tuple[str, bytes | None]:
        name = self._field() or b""
        return name.decode("utf-8", "replace"), self._field()

    def _field(self) -> bytes | None:
        size = self._number()
        if size < 0:
            return None
        start, self._pos = self._pos, self._pos + size
        return bytes(self._buffer[start : self._pos])

    def _number(self) -> int:
        number: int
        number, self._pos = decode_varint(self._buffer, self._pos)
        return number
