"""Wires the reader of a schema registry's wire format if a registry is configured. Its libraries are an extra."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, Final

from agents.stage.loop import Handle
from deploy.settings import Settings
from deploy.settings.kafka import secret_value
from schemas.documents.generate import TARGET
from schemas.errors import Misconfigured
from schemas.kafka import topics
from streams.delivery.batch import Batch
from streams.kafka.log import Reading, as_they_are

# Public topics only: internal topics are not part of the contract.
REGISTERED: Final = {
    topics.MESSAGES: "message",
    topics.ENDED: "conversation-ended",
    topics.COMMANDS: "command",
    topics.POLICIES: "policy",
    topics.EVENTS: "memory-event",
    topics.STATE: "memory",
    topics.ACTIVITY: "activity-event",
}

PUBLISHED_BY_OTHERS = (topics.MESSAGES, topics.ENDED, topics.COMMANDS)


@asynccontextmanager
async def registry(settings: Settings) -> AsyncIterator[Any]:
    """The registry's client. Raises Misconfigured without an address or the extra, and for an unusable CA file."""
    if settings.schema_registry_url is None:
        raise Misconfigured("MEMSTREAM_SCHEMA_REGISTRY_URL is not set: name the address of the schema registry")
    room = with_the_extra("streams.kafka.schema_registry")
    registry_settings = room.RegistrySettings(
        url=settings.schema_registry_url,
        username=settings.schema_registry_username,
        password=secret_value(settings.schema_registry_password),
        ca_file=settings.schema_registry_ca_file,
    )
    async with room.SchemaRegistry(registry_settings) as registry:
        yield registry


@asynccontextmanager
async def record_decoder(settings: Settings) -> AsyncIterator[Reading]:
    """Converts chat services' records to JSON; without a registry they pass unchanged."""
    if settings.schema_registry_url is None:
        yield as_they_are
        return
    async with registry(settings) as known:
        yield with_the_extra("streams.kafka.wire_format").WireFormat(known).read_records


def subjects(settings: Settings) -> dict[str, str]:
    """The names of memstream's schemas by registry subject."""
    return {f"{settings.topics().physical(topic)}-value": name for topic, name in REGISTERED.items()}


def texts(named: Mapping[str, str]) -> dict[str, str]:
    """The JSON Schemas by subject."""
    return {subject: (TARGET / f"{name}.schema.json").read_text() for subject, name in named.items()}


async def probe(settings: Settings) -> str:
    """The registry's state for `doctor`. Raises Misconfigured or Retryable if it cannot be used."""
    if settings.schema_registry_url is None:
        return "none: records are plain JSON"
    own = texts(subjects(settings))
    async with registry(settings) as known:
        missing = await known.lacks(own)
    if not missing:
        return f"{settings.schema_registry_url}, all {len(own)} schemas of this version registered"
    return (
        f"{settings.schema_registry_url} answers; it has no schema of this version under {', '.join(missing)}: "
        "run `memstream schemas register` if your clients read them there"
    )


def decode_first(reading: Reading, settings: Settings, handle: Handle) -> Handle:
    """Wraps the handler so that it gets converted records. While the registry is away it raises Retryable, and the batch is
    retried."""
    if reading is as_they_are:
        return handle
    theirs = {settings.topics().physical(name) for name in PUBLISHED_BY_OTHERS}

    async def read_and_handle(batch: Batch) -> None:
        if batch.topic in theirs:
            batch.records = list(await reading(batch.records))
        await handle(batch)

    return read_and_handle


def with_the_extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as exc:
        raise Misconfigured(
            f"MEMSTREAM_SCHEMA_REGISTRY_URL needs the package {exc.name}: install memstream with the extra schema-registry"
        ) from exc
