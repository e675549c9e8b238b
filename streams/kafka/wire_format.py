"""Converts events in the wire format of Confluent's serializers to the JSON that memstream reads.

Such a value begins with a zero byte and the number of its schema in the registry. No JSON text begins with a zero byte:
other values pass unchanged.
"""

import base64
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import fastavro
from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    json_format,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from msgspec import Struct

from schemas import codec
from schemas.counts import counted
from schemas.errors import MemstreamError, Rejected

MAGIC = b"\0"
HEADER_BYTES = 5  # the zero byte, and the schema's number in four
MAX_VARINT_BITS = 63
OWN_FILE = "memstream-schema.proto"

WELL_KNOWN = [
    descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    for module in (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
]

Decode = Callable[[bytes], bytes]


class RegisteredSchema(Struct, frozen=True, kw_only=True):
    """`kind` is AVRO, JSON or PROTOBUF. `references` are the texts of referenced schemas by the name in the reference,
    dependencies first; Protobuf's texts are file descriptors in base64."""

    kind: str
    text: str
    references: Mapping[str, str] = {}


class Registry(Protocol):
    async def schema(self, number: int) -> RegisteredSchema:
        """The schema with this number. Raises Rejected `unknown_schema`, and Retryable while the registry is away."""


class WireFormat:
    """Decodes values by the schemas of a registry; fetches each schema once."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._decoders: dict[int, Decode] = {}

    async def read_records(self, records: Sequence[Any]) -> list[Any]:
        """aiokafka's records with values converted by `read`. Raises Retryable."""
        values = await self.read([record.value for record in records])
        return [
            record if value is record.value else replace(record, value=value)
            for record, value in zip(records, values, strict=True)
        ]

    async def read(self, values: list[bytes | None]) -> list[bytes | None]:
        """The values as JSON. A value that cannot be decoded stays unchanged and raises its error when it is read. Raises
        Retryable."""
        refused: dict[int, Rejected] = {}
        return [await self._read(value, refused) for value in values]

    async def _read(self, value: bytes | None, refused: dict[int, Rejected]) -> bytes | None:
        if value is None or not value.startswith(MAGIC):
            return value
        try:
            if len(value) < HEADER_BYTES:
                raise Rejected(
                    "undecodable", "the value begins like the wire format, but ends before the number of the schema"
                )
            number = int.from_bytes(value[1:HEADER_BYTES], "big")
            if number in refused:
                raise refused[number]
            return decoded(await self._decoder(number, refused), number, value[HEADER_BYTES:])
        except Rejected as rejected:
            return codec.Unreadable(value, rejected)

    async def _decoder(self, number: int, refused: dict[int, Rejected]) -> Decode:
        if number not in self._decoders:
            try:
                self._decoders[number] = decoder(number, await self._registry.schema(number))
            except Rejected as rejected:
                refused[number] = rejected
                raise
        return self._decoders[number]


def decoded(decode: Decode, number: int, payload: bytes) -> bytes:
    try:
        return decode(payload)
    except MemstreamError:
        raise
    except Exception as exc:  # each of the three libraries has its own errors
        raise Rejected("undecodable", f"does not match schema {number}: {type(exc).__name__}: {exc}") from exc


def decoder(number: int, schema: RegisteredSchema) -> Decode:
    """The decoder of a schema. Raises Rejected for an unusable schema."""
    kinds: dict[str, Callable[[RegisteredSchema], Decode]] = {"AVRO": avro, "JSON": as_it_is, "PROTOBUF": protobuf}
    if schema.kind not in kinds:
        raise Rejected(
            "unknown_schema", f"schema {number} is of the kind {schema.kind!r}: {', '.join(kinds)} are known"
        )
    try:
        return kinds[schema.kind](schema)
    except Exception as exc:  # each of the three libraries has its own errors
        raise Rejected("unknown_schema", f"schema {number} cannot be used: {type(exc).__name__}: {exc}") from exc


def as_it_is(schema: RegisteredSchema) -> Decode:
    """Passes JSON through: memstream validates it itself."""
    return lambda payload: payload


def avro(schema: RegisteredSchema) -> Decode:
    named: dict[str, Any] = {}
    for text in schema.references.values():
        fastavro.parse_schema(json.loads(text), named_schemas=named)
    parsed = fastavro.parse_schema(json.loads(schema.text), named_schemas=named)

    def decode(payload: bytes) -> bytes:
        rest = io.BytesIO(payload)
        found = fastavro.schemaless_reader(rest, parsed, None)
        if left := len(rest.read()):
            raise ValueError(f"{counted(left, 'bytes')} left over")
        return codec.encode(without_nulls(found))

    return decode


def protobuf(schema: RegisteredSchema) -> Decode:
    files = {name: serialized(text, name) for name, text in schema.references.items()}
    file = serialized(schema.text, OWN_FILE)
    pool = descriptor_pool.DescriptorPool()
    for each in (*WELL_KNOWN, *files.values(), file):
        pool.Add(each)
    messages = pool.FindFileByName(OWN_FILE).message_types_by_name

    def decode(payload: bytes) -> bytes:
        path, start = message_path(payload)
        at = list(messages.values())[path[0]]
        for index in path[1:]:
            at = at.nested_types[index]
        message = message_factory.GetMessageClass(at)()
        message.ParseFromString(payload[start:])
        return codec.encode(json_format.MessageToDict(message, preserving_proto_field_name=True))

    return decode


def serialized(text: str, name: str) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto()
    file.ParseFromString(base64.b64decode(text, validate=True))
    file.name = name
    return file


def message_path(payload: bytes) -> tuple[list[int], int]:
    """The path of the payload's message type in its file, and the offset of the message.

    As Confluent's serializers write it: a count, then indexes, as zigzag varints; a single zero means the first message.
    """
    count, at = varint(payload, 0)
    path = []
    for _ in range(count):
        index, at = varint(payload, at)
        path.append(index)
    if min(path, default=0) < 0:
        raise ValueError("an index of a message is negative")
    return path or [0], at


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag varint and the offset behind it. Raises IndexError if the data ends before."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        if shift > MAX_VARINT_BITS:
            raise ValueError("a number has no end")


def without_nulls(found: Any) -> Any:
    """Drops null fields, which stand for missing ones in Avro."""
    if isinstance(found, dict):
        return {name: without_nulls(value) for name, value in found.items() if value is not None}
    if isinstance(found, list):
        return [without_nulls(value) for value in found]
    return found
