"""Follows one message through PostgreSQL, its topic and the dead letters. Sources that do not respond in time are listed as
missing."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.api.trails.steps import TrailStep, in_order, stored_steps
from agents.dead_letters.dead_letter_queue import DeadLetterStatuses
from schemas.conversations.messages import Moment, Role
from schemas.conversations.windows import Pruning
from schemas.errors import MemstreamError
from schemas.kafka import topics
from schemas.observability import traces
from sinks.trails.trails import ArchivedTrace, MessageTraces

TIMEOUT_S: Final = 6.0  # limit for reading from Kafka


class StoredTraces(Protocol):
    """Traces of a message in PostgreSQL (sinks.trails.trails.Trails)."""

    async def of(self, conversation_id: str, message_id: str) -> MessageTraces | None: ...


class TopicRecords(Protocol):
    """Reads records by offset (streams.kafka.log.Log). `topic` is a physical topic name."""

    def at(self, topic: str, offsets_by_partition: Mapping[int, Collection[int]]) -> AsyncGenerator[Any, None]: ...


class MessageTrail(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The path of a message from its topic to its memories, in order of time. `extracted` and `in_context` come from its
    window and lag about one second. `missing` has the reason for each source that could not be read."""

    conversation_id: str
    message_id: str
    role: Role
    said_at: Moment
    steps: tuple[TrailStep, ...]
    extracted: bool | None = None
    in_context: bool | None = None
    missing: dict[str, str] = {}


class MessageTrails:
    """Reads the paths of messages. `prefix` is the prefix of topic names."""

    def __init__(
        self, stored: StoredTraces, records: TopicRecords, dead_letters: DeadLetterStatuses, prefix: str
    ) -> None:
        self._stored = stored
        self._records = records
        self._dead_letters = dead_letters
        self._topic = prefix + topics.MESSAGES

    async def traces(self, conversation_id: str, message_id: str) -> MessageTraces | None:
        """Returns the traces in PostgreSQL; None if the archive does not have the message. Raises Retryable."""
        return await self._stored.of(conversation_id, message_id)

    async def steps(
        self, traces: MessageTraces, prunings: Collection[Pruning], allowed: Callable[[str], bool]
    ) -> tuple[tuple[TrailStep, ...], dict[str, str]]:
        """Returns all steps, and the reasons for missing sources. Limited to memories in namespaces for which `allowed`
        returns True."""
        errors: dict[str, str] = {}
        kafka_steps = await asyncio.gather(
            self._read_in_time("topic", self._published(traces.archived), errors),
            self._read_in_time("dead_letters", self._dead_lettered(traces.archived), errors),
        )
        prunings_of_message = pruned_steps(traces.archived, prunings)
        return in_order(
            [*kafka_steps[0], *kafka_steps[1], *stored_steps(traces, allowed), *prunings_of_message]
        ), errors

    async def _read_in_time(
        self, name: str, read: Awaitable[list[TrailStep]], errors: dict[str, str]
    ) -> list[TrailStep]:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await read
        except TimeoutError:
            errors[name] = f"no response within {TIMEOUT_S:g} s"
        except MemstreamError as exc:
            errors[name] = exc.plain
        return []

    async def _published(self, archived: ArchivedTrace) -> list[TrailStep]:
        """Returns the step of the record itself, if the topic still has it."""
        partition, offset = archived.partition, archived.position
        async for record in self._records.at(self._topic, {partition: {offset}}):
            at = datetime.fromtimestamp(record.timestamp / 1_000, UTC) if record.timestamp > 0 else None
            step = TrailStep(kind="published", at=at, topic=self._topic, partition=partition, offset=offset)
            return [replace(step, trace_id=trace_id_of(record))]
        return []

    async def _dead_lettered(self, archived: ArchivedTrace) -> list[TrailStep]:
        """Returns dead letters of the message from stages that could not process it."""
        place = (self._topic, archived.partition, archived.position)
        dead_letters = [each.letter for each in await self._dead_letters.statuses()]
        return [
            TrailStep(kind="put_aside", at=each.at, letter=each.place, stage=each.stage, reason=each.reason)
            for each in dead_letters
            if each.source and (each.source.topic, each.source.partition, each.source.offset) == place
        ]


def trace_id_of(record: Any) -> str | None:
    header = next((value for name, value in record.headers if name == "traceparent"), None)
    parsed = traces.parse_traceparent(header) if header else None
    return parsed.split("-")[1] if parsed else None


def pruned_steps(archived: ArchivedTrace, prunings: Collection[Pruning]) -> Iterator[TrailStep]:
    for pruning in prunings:
        for run in pruning.removed:
            if run.first <= archived.position <= run.last:
                at = datetime.fromtimestamp(pruning.at, UTC)
                yield TrailStep(kind="pruned", at=at, reason=run.reason, count=run.count)
