"""Values of Confluent's serializers decode to the same message as JSON; others are kept with a reason."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from schemas import codec
from schemas.conversations.messages import Message
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.kafka import topics
from streams.kafka.schema_registry import RegistrySettings, SchemaRegistry
from streams.kafka.wire_format import WireFormat
from tests.servers.schema_registry import RegistryServer
from tests.servers.scripted import in_a_thread

AT = datetime(2026, 11, 1, 10, tzinfo=UTC)
SAID = {"conversation_id": "c", "message_id": "c-1", "role": "user", "content": "I like tea.", "user_id": "ada"}
JSON_SAID = SAID | {"timestamp": "2026-11-01T10:00:00Z"}
CONTEXT = SerializationContext(topics.MESSAGES, MessageField.VALUE)
AVRO_SCHEMA = {
    "type": "record",
    "name": "Said",
    "fields": [
        *({"name": name, "type": "string"} for name in ("conversation_id", "message_id", "role", "content")),
        {"name": "timestamp", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "user_id", "type": ["null", "string"], "default": None},
        {"name": "app_id", "type": ["null", "string"], "default": None},
    ],
}


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with in_a_thread(RegistryServer()) as server:
        yield server


@pytest.fixture
async def registry(server: RegistryServer) -> AsyncIterator[SchemaRegistry]:
    async with SchemaRegistry(RegistrySettings(url=server.url)) as registry:
        yield registry


@pytest.fixture
def theirs(server: RegistryServer) -> Iterator[SchemaRegistryClient]:
    """A chat service's own client."""
    with SchemaRegistryClient({"url": server.url}) as client:
        yield client


def avro(client: SchemaRegistryClient) -> bytes:
    return AvroSerializer(client, json.dumps(AVRO_SCHEMA))(SAID | {"timestamp": AT}, CONTEXT)


def json_schema(client: SchemaRegistryClient) -> bytes:
    return JSONSerializer(json.dumps({"title": "Said", "type": "object"}), client)(JSON_SAID, CONTEXT)


def proto_class(name: str = "Said") -> Any:
    """The second message of its file, with a time of Protobuf's own."""
    file = descriptor_pb2.FileDescriptorProto(
        name="said.proto", package="chat", syntax="proto3", dependency=["google/protobuf/timestamp.proto"]
    )
    file.message_type.add(name="Other")
    message = file.message_type.add(name=name)
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, field in enumerate((*SAID, "timestamp"), 1):
        added = message.field.add(name=field, number=number, label=kinds.LABEL_OPTIONAL, type=kinds.TYPE_STRING)
        if field == "timestamp":
            added.type, added.type_name = kinds.TYPE_MESSAGE, ".google.protobuf.Timestamp"
    pool = descriptor_pool.DescriptorPool()
    from_default = descriptor_pool.Default().FindFileByName("google/protobuf/timestamp.proto")
    pool.AddSerializedFile(from_default.serialized_pb)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"chat.{name}"))


def protobuf(client: SchemaRegistryClient) -> bytes:
    kind = proto_class()
    said = kind(**SAID)
    said.timestamp.FromJsonString("2026-11-01T10:00:00Z")
    return ProtobufSerializer(kind, client)(said, CONTEXT)


@pytest.mark.parametrize("write", [avro, json_schema, protobuf])
async def test_values_of_confluent_serializers_decode_to_the_same_message(theirs: Any, registry: Any, write: Any):
    value = write(theirs)
    assert value.startswith(b"\0")
    (read,) = await WireFormat(registry).read([value])
    message = codec.decode_untrusted(read, Message)
    assert message == codec.decode(codec.encode(JSON_SAID), Message)


async def test_plain_json_and_empty_values_are_passed_through_without_a_registry_request(
    server: RegistryServer, registry: Any
):
    plain = codec.encode(JSON_SAID)
    assert await WireFormat(registry).read([plain, None, b""]) == [plain, None, b""]
    assert server.request_count == 0


async def test_a_schema_is_fetched_from_the_registry_once(theirs: Any, server: RegistryServer, registry: Any):
    wire, value = WireFormat(registry), avro(theirs)
    before = server.request_count
    for _ in range(3):
        await wire.read([value, value])
    assert server.request_count - before == 1


async def test_a_schema_may_build_on_another_one(theirs: Any, registry: Any):
    role = {"type": "enum", "name": "Role", "symbols": ["user", "assistant"]}
    theirs.register_schema("role", Schema(json.dumps(role), "AVRO"))
    fields = [each | ({"type": "Role"} if each["name"] == "role" else {}) for each in AVRO_SCHEMA["fields"]]
    built = Schema(json.dumps(AVRO_SCHEMA | {"fields": fields}), "AVRO", [SchemaReference("Role", "role", 1)])
    value = AvroSerializer(theirs, built)(SAID | {"timestamp": AT}, CONTEXT)
    (read,) = await WireFormat(registry).read([value])
    assert codec.decode(read, Message).role == "user"


def rejection_of(read: bytes | None) -> Rejected:
    with pytest.raises(Rejected) as refused:
        codec.decode_untrusted(read, Message)
    return refused.value


async def test_an_undecodable_value_is_kept_unchanged_with_the_reason(theirs: Any, registry: Any):
    right = avro(theirs)
    cases = {
        b"\0\0\0\3\xe7{}": ("unknown_schema", "does not know schema 999"),
        b"\0\0": ("undecodable", "ends before the number of the schema"),
        right[:9]: ("undecodable", "does not match schema 1"),
        right + b"more": ("undecodable", "4 bytes left over"),
    }
    read = await WireFormat(registry).read([*cases, right])
    assert read[:-1] == list(cases)
    for value, (reason, detail) in zip(read, cases.values(), strict=False):
        assert rejection_of(value).reason == reason
        assert detail in rejection_of(value).detail
    assert codec.decode(read[-1], Message).content == "I like tea."


async def test_a_value_with_a_schema_but_a_wrong_shape_is_invalid(theirs: Any, registry: Any):
    value = JSONSerializer(json.dumps({"title": "Said", "type": "object"}), theirs)({"a": 1}, CONTEXT)
    assert rejection_of((await WireFormat(registry).read([value]))[0]).reason == "invalid"


async def test_a_schema_registered_later_is_found_on_the_next_read(theirs: Any, registry: Any):
    wire, early = WireFormat(registry), b"\0\0\0\0\1" + codec.encode(JSON_SAID)
    assert rejection_of((await wire.read([early]))[0]).reason == "unknown_schema"
    json_schema(theirs)
    assert codec.decode((await wire.read([early]))[0], Message).content == "I like tea."


@pytest.mark.parametrize("fault", ["status:503", "status:500"])
async def test_an_unavailable_registry_raises_retryable_and_is_queried_again(
    theirs: Any, server: RegistryServer, registry: Any, fault: str
):
    wire, value = WireFormat(registry), json_schema(theirs)
    server.script(*[fault] * 3)
    with pytest.raises(Retryable, match="schema registry http"):
        await wire.read([value])
    (read,) = await wire.read([value])
    assert codec.decode(read, Message).content == "I like tea."


async def test_an_unreachable_registry_raises_retryable():
    async with SchemaRegistry(RegistrySettings(url="http://127.0.0.1:9")) as registry:
        with pytest.raises(Retryable, match=r"127\.0\.0\.1:9"):
            await WireFormat(registry).read([b"\0\0\0\0\1{}"])


async def test_the_registry_gets_basic_credentials_and_wrong_ones_raise_retryable():
    with in_a_thread(RegistryServer(("memstream", "EXAMPLE-pa55word"))) as server:
        right = RegistrySettings(url=server.url, username="memstream", password="EXAMPLE-pa55word")
        async with SchemaRegistry(right) as registry:
            assert await registry.register({"a-value": "{}"}) == {"a-value": 1}
        async with SchemaRegistry(RegistrySettings(url=server.url, username="memstream", password="wrong")) as registry:
            with pytest.raises(Retryable, match="Unauthorized") as refused:
                await registry.schema(1)
        assert "EXAMPLE-pa55word" not in str(refused.value)


async def test_a_schema_that_the_registry_does_not_take_is_named(server: RegistryServer, registry: SchemaRegistry):
    assert await registry.register({"a-value": "{}", "b-value": "{}"}) == {"a-value": 1, "b-value": 1}
    server.taken = False
    with pytest.raises(Misconfigured, match="a-value: Schema being registered is incompatible"):
        await registry.register({"a-value": '{"type": "object"}'})


def test_an_unusable_ca_file_of_the_registry_is_named_in_the_error(tmp_path: Path):
    with pytest.raises(Misconfigured, match="https://registry"):
        SchemaRegistry(RegistrySettings(url="https://registry", ca_file=tmp_path / "missing.pem"))
