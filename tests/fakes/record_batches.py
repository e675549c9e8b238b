"""Record batches in Kafka's binary format, written byte by byte, as no Python client can write some of them."""

import gzip
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from aiokafka import codec
from aiokafka.record.default_records import DefaultRecordBase
from aiokafka.record.util import calc_crc32c, encode_varint

FIRST_MS = 1_700_000_000_000
USUAL = (("trace", b"18"),)
NAMELESS = ((b"trace", b"17"), (b"na\xff\xfeme", b"\x80"), (b"trace", None))
REPLACED = (("trace", b"17"), ("na\ufffd\ufffdme", b"\x80"), ("trace", None))
COMPRESSIONS: Mapping[str, tuple[int, bool, Callable[[bytes], bytes]]] = {
    "none": (DefaultRecordBase.CODEC_NONE, True, bytes),
    "gzip": (DefaultRecordBase.CODEC_GZIP, True, gzip.compress),
    "snappy": (DefaultRecordBase.CODEC_SNAPPY, codec.has_snappy(), codec.snappy_encode),
    "lz4": (DefaultRecordBase.CODEC_LZ4, codec.has_lz4(), codec.lz4_encode),
    "zstd": (DefaultRecordBase.CODEC_ZSTD, codec.has_zstd(), codec.zstd_encode),
}  # number, whether it is installed, how


class Raw(NamedTuple):
    """A record in a batch; `late_ms` is its timestamp relative to the first of the batch."""

    value: bytes | None = b"{}"
    key: bytes | None = b"key"
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    late_ms: int = 0


def record_batch(
    base: int,
    records: Mapping[int, Raw],
    *,
    end: int = 0,
    compression: str = "none",
    flags: int = 0,
    producer_id: int = -1,
    last_ms: int = FIRST_MS,
) -> bytes:
    """A batch of format 2 that begins at offset `base`, with its records by offset; `end` is the end that compaction left."""
    number, _, compress = COMPRESSIONS[compression]
    body = compress(b"".join(_sized(_record(offset - base, record)) for offset, record in records.items()))
    last = max(end - 1, base, *records)
    checked = struct.pack(">hiqqqhii", number | flags, last - base, FIRST_MS, last_ms, producer_id, 0, 0, len(records))
    checked += body
    rest = struct.pack(">ibI", 0, 2, calc_crc32c(checked)) + checked
    return struct.pack(">qi", base, len(rest)) + rest


def abort_marker(offset: int, producer_id: int) -> bytes:
    flags = DefaultRecordBase.CONTROL_MASK | DefaultRecordBase.TRANSACTIONAL_MASK
    marker = Raw(key=struct.pack(">hh", 0, 0), value=struct.pack(">hi", 0, 0))
    return record_batch(offset, {offset: marker}, flags=flags, producer_id=producer_id)


def _record(delta: int, record: Raw) -> bytes:
    headers = b"".join(_field(name) + _field(value) for name, value in record.headers)
    fields = _field(record.key) + _field(record.value)
    return b"\0" + _number(record.late_ms) + _number(delta) + fields + _number(len(record.headers)) + headers


def _field(data: bytes | None) -> bytes:
    return _number(-1) if data is None else _sized(data)


def _sized(data: bytes) -> bytes:
    return _number(len(data)) + data


def _number(value: int) -> bytes:
    written = bytearray()
    encode_varint(value, written.append)
    return bytes(written)


def numbered(offset: int, *, bad: bool = False) -> Raw:
    """A record with its offset in every field; a bad one has a header name that is not UTF-8."""
    return Raw(b"value %d" % offset, b"key %d" % offset, NAMELESS if bad else ((b"trace", b"18"),), offset)


def numbered_batch(base: int, end: int, bad: Iterable[int] = (), **options: Any) -> bytes:
    """A batch of numbered records from `base` until before `end`."""
    return record_batch(base, {offset: numbered(offset, bad=offset in bad) for offset in range(base, end)}, **options)


def assert_numbered(records: list[Any], offsets: Iterable[int], bad: Iterable[int]) -> None:
    """Checks for exactly these numbered records, in order, each with its own fields."""
    expected = [
        (offset, b"key %d" % offset, b"value %d" % offset, FIRST_MS + offset, REPLACED if offset in bad else USUAL)
        for offset in offsets
    ]
    assert [(each.offset, each.key, each.value, each.timestamp, each.headers) for each in records] == expected
