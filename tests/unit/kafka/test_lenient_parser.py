"""Records with header names that are not UTF-8, and the other records of their batch."""

from collections.abc import Iterable
from typing import Any

import pytest
from aiokafka.consumer.fetcher import READ_COMMITTED, PartitionRecords
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBase
from aiokafka.record.memory_records import MemoryRecords
from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from streams.kafka.lenient_parser import LegibleBatch, LegibleRecords
from tests.fakes.record_batches import (
    COMPRESSIONS,
    FIRST_MS,
    Raw,
    abort_marker,
    assert_numbered,
    numbered,
    numbered_batch,
    record_batch,
)

TRANSACTIONAL, LOG_APPEND_TIME = DefaultRecordBase.TRANSACTIONAL_MASK, DefaultRecordBase.TIMESTAMP_TYPE_MASK


def partition_records(data: Any, start: int = 0, aborted: Iterable[tuple[int, int]] = ()) -> PartitionRecords:
    return PartitionRecords(TP("chat.messages", 0), data, list(aborted), start, None, None, True, READ_COMMITTED)


def read_legibly(data: bytes, start: int = 0, aborted: Iterable[tuple[int, int]] = ()) -> tuple[list[Any], int]:
    """The records, and where to go on."""
    found = partition_records(LegibleRecords(data), start, aborted)
    return list(found), found.next_fetch_offset


@pytest.mark.parametrize("bad", [{0}, {2}, {4}, {0, 1, 3}, set(range(5))], ids=str)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_every_record_of_a_batch_is_read_even_if_header_names_are_not_utf8(bad, compression):
    if not COMPRESSIONS[compression][1]:
        pytest.skip(f"{compression} is not installed")
    data = numbered_batch(0, 5, bad, compression=compression)
    with pytest.raises((UnicodeDecodeError, CorruptRecordException)):
        list(partition_records(MemoryRecords(data)))
    records, end = read_legibly(data)
    assert_numbered(records, range(5), bad)
    assert end == 5


field = st.none() | st.binary(max_size=200)
names = st.text(max_size=20).map(str.encode)
raws = st.builds(
    Raw,
    value=field,
    key=field,
    headers=st.lists(st.tuples(names, field), max_size=3).map(tuple),
    late_ms=st.integers(-(2**40), 2**40),
)


@given(
    records=st.dictionaries(st.integers(100, 4_000), raws, min_size=1, max_size=8),
    options=st.fixed_dictionaries(
        {
            "end": st.integers(0, 5_000),
            "flags": st.sampled_from([0, LOG_APPEND_TIME, TRANSACTIONAL]),
            "compression": st.sampled_from(["none", "gzip"]),
            "last_ms": st.integers(FIRST_MS, 2**41),
        }
    ),
    start=st.integers(0, 5_000),
)
def test_records_with_valid_header_names_are_read_exactly_as_by_aiokafka(records, options, start):
    data = record_batch(100, dict(sorted(records.items())), **options)
    usual = partition_records(MemoryRecords(data), start)
    assert read_legibly(data, start) == (list(usual), usual.next_fetch_offset)


def test_reading_begins_inside_a_batch_behind_the_bad_record():
    records, end = read_legibly(numbered_batch(0, 5, {1}), start=3)
    assert_numbered(records, [3, 4], ())
    assert end == 5


def test_gaps_left_by_compaction_are_skipped():
    data = record_batch(10, {12: numbered(12, bad=True), 15: numbered(15)}, end=20)
    records, end = read_legibly(data, start=10)
    assert_numbered(records, [12, 15], {12})
    assert end == 20


def test_aborted_transactions_are_skipped_and_committed_ones_are_read():
    aborted = numbered_batch(0, 3, {1}, flags=TRANSACTIONAL, producer_id=7)
    committed = numbered_batch(4, 6, {4}, flags=TRANSACTIONAL, producer_id=8)
    records, end = read_legibly(aborted + abort_marker(3, 7) + committed + abort_marker(6, 9), aborted=[(7, 0)])
    assert_numbered(records, [4, 5], {4})
    assert end == 7


def test_a_truncated_batch_is_left_for_the_next_fetch():
    records, end = read_legibly(numbered_batch(0, 3, {1}) + numbered_batch(3, 6, {3})[:-1])
    assert_numbered(records, range(3), {1})
    assert end == 3
    assert read_legibly(numbered_batch(0, 3, {1})[:-1]) == ([], 0)


def test_a_batch_with_a_bad_checksum_raises_after_earlier_batches_were_read():
    damaged = bytearray(numbered_batch(3, 6, {3}))
    damaged[-1] ^= 1
    found = partition_records(LegibleRecords(numbered_batch(0, 3, {1}) + damaged))
    assert_numbered([next(found) for _ in range(3)], range(3), {1})
    with pytest.raises(CorruptRecordException):
        next(found)


def test_a_record_whose_size_differs_from_its_length_field_raises_corrupt_record():
    data = numbered_batch(0, 1, {0})
    head, body = LegibleBatch.HEADER_STRUCT.size, bytearray(data)
    body[head] += 2  # a varint: one byte more
    with pytest.raises(CorruptRecordException, match="ends -1 bytes after"):
        next(LegibleBatch(bytes(body)))
