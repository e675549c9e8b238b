"""Follows one message: what PostgreSQL, its topic and the dead letters tell of it. What cannot be asked in time is named."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.api.trails.steps import TrailStep, in_order, stored_steps
from agents.dead_letters.letters import LetterStatus
from schemas.conversations.messages import Moment, Role
from schemas.conversations.windows import Pruning
from schemas.errors import MemstreamError
from schemas.kafka import topics
from schemas.observability import traces
from sinks.trails.trails import ArchivedTrace, MessageTraces

WITHIN_S: Final = 6.0  # what Kafka is asked


class StoredTraces(Protocol):
    """sinks.trails.trails.Trails."""

    async def of(self, conversation_id: str, message_id: str) -> MessageTraces | None: ...


class Records(Protocol):
    """streams.kafka.log.Log, for records by their places; `topic` is a physical name."""

    def at(self, topic: str, wanted: Mapping[int, Collection[int]]) -> AsyncGenerator[Any, None]: ...


class PutAside(Protocol):
    """agents.dead_letters.letters.Letters."""

    async def statuses(self) -> list[LetterStatus]: ...


class MessageTrail(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message on its way from its topic to memories, in order of time. `extracted` and `in_context` are as its window says, a
    second behind. `missing` names what could not be asked, and why."""

    conversation_id: str
    message_id: str
    role: Role
    said_at: Moment
    steps: tuple[TrailStep, ...]
    extracted: bool | None = None
    in_context: bool | None = None
    missing: dict[str, str] = {}


class MessageTrails:
    """`prefix` is that of topics."""

    def __init__(self, stored: StoredTraces, records: Records, letters: PutAside, prefix: str) -> None:
        self._stored = stored
        self._records = records
        self._letters = letters
        self._topic = prefix + topics.MESSAGES

    async def traces(self, conversation_id: str, message_id: str) -> MessageTraces | None:
        """What PostgreSQL tells of it; None for one that is not in the archive. Raises Retryable."""
        return await self._stored.of(conversation_id, message_id)

    async def steps(
        self, found: MessageTraces, prunings: Collection[Pruning], allowed: Callable[[str], bool]
    ) -> tuple[tuple[TrailStep, ...], dict[str, str]]:
        """All of them, and what is missing. Of memories those in namespaces that are `allowed`."""
        missing: dict[str, str] = {}
        of_kafka = await asyncio.gather(
            self._in_time("topic", self._published(found.archived), missing),
            self._in_time("dead_letters", self._put_aside(found.archived), missing),
        )
        left = pruned(found.archived, prunings)
        return in_order([*of_kafka[0], *of_kafka[1], *stored_steps(found, allowed), *left]), missing

    async def _in_time(self, name: str, asked: Awaitable[list[TrailStep]], missing: dict[str, str]) -> list[TrailStep]:
        try:
            async with asyncio.timeout(WITHIN_S):
                return await asked
        except TimeoutError:
            missing[name] = f"it did not answer within {WITHIN_S:g} s"
        except MemstreamError as exc:
            missing[name] = exc.plain
        return []

    async def _published(self, archived: ArchivedTrace) -> list[TrailStep]:
        """The record itself, as long as the topic keeps it."""
        partition, offset = archived.partition, archived.position
        async for record in self._records.at(self._topic, {partition: {offset}}):
            at = datetime.fromtimestamp(record.timestamp / 1_000, UTC) if record.timestamp > 0 else None
            step = TrailStep(kind="published", at=at, topic=self._topic, partition=partition, offset=offset)
            return [replace(step, trace_id=trace_of(record))]
        return []

    async def _put_aside(self, archived: ArchivedTrace) -> list[TrailStep]:
        """By a stage that could not process it; the archive could."""
        place = (self._topic, archived.partition, archived.position)
        found = [each.letter for each in await self._letters.statuses()]
        return [
            TrailStep(kind="put_aside", at=each.at, letter=each.place, stage=each.stage, reason=each.reason)
            for each in found
            if each.source and (each.source.topic, each.source.partition, each.source.offset) == place
        ]


def trace_of(record: Any) -> str | None:
    said = next((value for name, value in record.headers if name == "traceparent"), None)
    parsed = traces.parse_traceparent(said) if said else None
    return parsed.split("-")[1] if parsed else None


def pruned(archived: ArchivedTrace, prunings: Collection[Pruning]) -> Iterator[TrailStep]:
    for pruning in prunings:
        for run in pruning.removed:
            if run.first <= archived.position <= run.last:
                at = datetime.fromtimestamp(pruning.at, UTC)
                yield TrailStep(kind="pruned", at=at, reason=run.reason, count=run.count)
