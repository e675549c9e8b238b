"""The curation agent: decides about candidates and commands, several namespaces concurrently, each namespace in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from opentelemetry.trace import SpanKind

from agents.curation.curator import Curator
from agents.curation.dead_letters import dead_letter_unless_erased, namespace_and_conversation
from agents.dead_letters.writer import position
from agents.stage.in_flight import InFlight, retry_while_held
from agents.stage.key_queues import KeyQueues, QueuePlace
from schemas import codec
from schemas.errors import MemstreamError, Rejected
from schemas.extraction.candidates import CandidateBatch
from schemas.kafka import topics
from schemas.kafka.records import Publisher
from schemas.memories.commands import Command
from schemas.observability import traces
from schemas.observability.log_context import about
from schemas.policies.shadows import refuse_reserved
from sinks.memories.settlements import Part
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.kafka.topics import TopicSettings

log = logging.getLogger(__name__)


class CurationAgent:
    """`in_flight` bounds the concurrent batches. A namespace that waits for a model delays no other namespace."""

    def __init__(
        self,
        app: StageApp,
        curator: Curator,
        names: TopicSettings,
        publisher: Publisher,
        clock: Callable[[], datetime],
        *,
        in_flight: int = 16,
    ) -> None:
        self._curator = curator
        self._candidates_topic = names.physical(topics.CANDIDATES)
        self._publisher = publisher
        self._clock = clock
        self._turns = KeyQueues()
        self._in_flight = InFlight(app, in_flight)

    async def handle(self, batch: Batch) -> None:
        """Starts the batch and returns. Batches may end in any order; the records of a namespace are decided in order."""
        await self._in_flight.start(batch, lambda: self._namespaces(batch, self._queued(batch)))

    async def close(self) -> None:
        """Cancels running work; undecided records are delivered again."""
        await self._in_flight.close()

    def _queued(self, batch: Batch) -> list[tuple[QueuePlace, list[Any]]]:
        """The records of each namespace, with a place in the namespace's queue. Places are taken before the first await."""
        by_namespace: dict[bytes, list[Any]] = {}
        for record in batch.records:
            by_namespace.setdefault(record.key or b"", []).append(record)
        return [(self._turns.next(namespace), records) for namespace, records in by_namespace.items()]

    async def _namespaces(self, batch: Batch, queued: list[tuple[QueuePlace, list[Any]]]) -> None:
        """Decides about every record, or raises. Records that were decided before keep their outcome."""
        namespaces = (self._namespace(batch, queue_place, records) for queue_place, records in queued)
        ends = await asyncio.gather(*namespaces, return_exceptions=True)
        if failed := [end for end in ends if isinstance(end, BaseException)]:
            raise failed[0]

    async def _namespace(self, batch: Batch, queue_place: QueuePlace, records: list[Any]) -> None:
        """Decides about the records of a namespace in order; a temporary failure is retried before the next record."""
        async with queue_place:
            for namespace, run in groupby(records, self._imported_into):
                if namespace is None:
                    for record in run:
                        await retry_while_held(batch, record, partial(self._record, record))
                else:
                    imports = list(run)
                    await retry_while_held(batch, imports[0], partial(self._imports, imports))

    def _imported_into(self, record: Any) -> str | None:
        """The namespace of an import command; None for any other record."""
        if record.topic == self._candidates_topic:
            return None
        try:
            command = codec.decode_untrusted(record.value, Command)
        except Rejected:
            return None
        return command.namespace if command.kind == "import" else None

    async def _imports(self, records: list[Any]) -> None:
        """Applies imports together; if that fails, one by one, so that an invalid one does not fail the others."""
        causes = {traces.traceparent_of(record.headers) for record in records}
        attributes = {"memstream.records": len(records)}
        try:
            with traces.span("curation import", attributes, causes=causes, kind=SpanKind.CONSUMER):
                await self._curator.apply_imports([codec.decode_untrusted(record.value, Command) for record in records])
        except Rejected:
            await self._one_by_one(records)
        except MemstreamError:
            raise
        except Exception:
            log.exception(
                "importing a batch from %s[%d]@%d on failed unexpectedly: applying its commands one by one",
                *position(records[0]),
            )
            await self._one_by_one(records)

    async def _one_by_one(self, records: list[Any]) -> None:
        for record in records:
            await self._record(record)

    async def _record(self, record: Any) -> None:
        causes = (traces.traceparent_of(record.headers),)
        with traces.span("curation decide", causes=causes, kind=SpanKind.CONSUMER):
            await self._outcome(record)

    async def _outcome(self, record: Any) -> None:
        try:
            await self._decision(record)
        except Rejected as rejected:
            await self._give_up(record, rejected)
        except MemstreamError:
            raise
        except Exception as exc:
            # An unexpected error would repeat on every worker: a dead letter keeps the record from stopping them all.
            log.exception("the record at %s[%d]@%d failed unexpectedly: writing a dead letter", *position(record))
            await self._give_up(record, Rejected("unforeseen", repr(exc)))

    async def _give_up(self, record: Any, rejected: Rejected) -> None:
        fences = await self._curator.fences_of(*namespace_and_conversation(record))
        if (letter := dead_letter_unless_erased(record, rejected, fences, self._clock())) is not None:
            await self._publisher.publish([letter])
        await self._drop_part(record, rejected)

    async def _decision(self, record: Any) -> None:
        if record.topic == self._candidates_topic:
            batch = refuse_shadow_namespace(codec.decode_untrusted(record.value, CandidateBatch))
            ids = {"conversation_id": batch.conversation_id, "request_id": batch.request_id}
            await self._decide_with_ids(ids, lambda: self._curator.curate(batch))
        else:
            command = codec.decode_untrusted(record.value, Command)
            await self._decide_with_ids(
                {"command_id": command.command_id}, lambda: self._curator.apply_command(command)
            )

    async def _decide_with_ids(self, ids: dict[str, str], decide: Callable[[], Awaitable[object]]) -> None:
        traces.describe(**ids)
        with about(**ids):
            await decide()

    async def _drop_part(self, record: Any, rejected: Rejected) -> None:
        """Marks the part of a dead-lettered record as settled, if the record still names its part."""
        if record.topic != self._candidates_topic:
            return
        try:
            await self._curator.drop_part(codec.decode_untrusted(record.value, Part), rejected.reason)
        except Rejected as unknown:
            # The request is unknown or invalid: its window repeats it after its deadline.
            log.warning(
                "the record at %s[%d]@%d does not name its request, which is sent again after its deadline: %s",
                *position(record),
                unknown,
            )


def refuse_shadow_namespace(batch: CandidateBatch) -> CandidateBatch:
    """The batch, unless it is for a replay's shadow namespace: replays do not publish to Kafka. Raises Rejected."""
    try:
        refuse_reserved(batch.namespace)
    except ValueError as exc:
        raise Rejected("invalid", str(exc)) from exc
    return batch
