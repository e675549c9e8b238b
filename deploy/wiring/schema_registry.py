"""What reads the wire format of a schema registry, where the settings name one. Its libraries come with an extra."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, Final

from agents.stage.loop import Handle
from deploy.settings import Settings
from deploy.settings.kafka import revealed
from schemas.documents.generate import TARGET
from schemas.errors import Misconfigured
from schemas.kafka import topics
from streams.delivery.batch import Batch
from streams.kafka.log import Reading, as_they_are

# What others publish and hear; what stages say to each other is no contract.
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
    """Raises Misconfigured without an address, without the extra, and for a file of authorities that cannot be used."""
    if settings.schema_registry_url is None:
        raise Misconfigured("MEMSTREAM_SCHEMA_REGISTRY_URL is not set: name the address of the schema registry")
    room = with_the_extra("streams.kafka.schema_registry")
    reached = room.RegistrySettings(
        url=settings.schema_registry_url,
        username=settings.schema_registry_username,
        password=revealed(settings.schema_registry_password),
        ca_file=settings.schema_registry_ca_file,
    )
    async with room.SchemaRegistry(reached) as registry:
        yield registry


@asynccontextmanager
async def reading(settings: Settings) -> AsyncIterator[Reading]:
    """What makes JSON of records that chat services published. Without a registry they are taken as they are."""
    if settings.schema_registry_url is None:
        yield as_they_are
        return
    async with registry(settings) as known:
        yield with_the_extra("streams.kafka.wire_format").WireFormat(known).read_records


def subjects(settings: Settings) -> dict[str, str]:
    """By the subjects of memstream's own schemas their names."""
    return {f"{settings.topics().physical(topic)}-value": name for topic, name in REGISTERED.items()}


def texts(named: Mapping[str, str]) -> dict[str, str]:
    """By subject the JSON Schema."""
    return {subject: (TARGET / f"{name}.schema.json").read_text() for subject, name in named.items()}


async def probed(settings: Settings) -> str:
    """What `doctor` says of the registry. Raises Misconfigured or Retryable where it cannot be used."""
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


def read_first(reading: Reading, settings: Settings, handle: Handle) -> Handle:
    """The handle, for batches whose records were read. A registry that is away raises Retryable, so the batch is tried again."""
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
