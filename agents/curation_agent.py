"""The curation agent: candidates and commands, several namespaces at a time, each namespace in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from agents.curator import Curator
from agents.dead_letters import dead_letter, position
from schemas import codec, topics
from schemas.errors import MemstreamError, Rejected, Retryable
from schemas.records import Publisher
from schemas.requests import CandidateBatch, Command
from sinks.settlements import Part
from streams.delivery.batch import Batch
from streams.topics import TopicSettings

log = logging.getLogger(__name__)

STAGE = "curation"


class CurationAgent:
    """`concurrency` bounds the deciding transactions of this process, one connection each."""

    def __init__(
        self,
        curator: Curator,
        names: TopicSettings,
        publisher: Publisher,
        clock: Callable[[], datetime],
        *,
        concurrency: int = 4,
    ) -> None:
        self._curator = curator
        self._candidates_topic = names.physical(topics.CANDIDATES)
        self._publisher = publisher
        self._clock = clock
        self._deciding = asyncio.Semaphore(concurrency)

    async def handle(self, batch: Batch) -> None:
        """Everything of the batch is decided, or nothing is acked. What was decided is found settled when repeated."""
        by_namespace: dict[bytes, list[Any]] = {}
        for record in batch.records:
            by_namespace.setdefault(record.key or b"", []).append(record)
        decided = await asyncio.gather(
            *(self._namespace(batch, records) for records in by_namespace.values()), return_exceptions=True
        )
        raise_first([outcome for outcome in decided if isinstance(outcome, BaseException)])
        batch.ack()

    async def _namespace(self, batch: Batch, records: list[Any]) -> None:
        async with self._deciding:
            for record in records:
                if not batch.held:
                    return
                await self._record(record)

    async def _record(self, record: Any) -> None:
        try:
            await self._decision(record)
        except Rejected as rejected:
            await self._give_up(record, rejected)
        except MemstreamError:
            raise
        except Exception as exc:
            # Neither an outage nor a wrong set-up: this record would fail on every worker, and must not stop them all.
            log.exception("the record at %s[%d]@%d fails for a reason nobody foresaw", *position(record))
            await self._give_up(record, Rejected("unforeseen", repr(exc)))

    async def _give_up(self, record: Any, rejected: Rejected) -> None:
        await self._publisher.publish([dead_letter(record, STAGE, rejected, self._clock())])
        await self._answer_for(record, rejected)

    def _decision(self, record: Any) -> Awaitable[Any]:
        if record.topic == self._candidates_topic:
            return self._curator.curate(codec.admit(record.value, CandidateBatch))
        return self._curator.carry_out(codec.admit(record.value, Command))

    async def _answer_for(self, record: Any, rejected: Rejected) -> None:
        """A part that went to the dead letters counts as answered, if it still says which part it was."""
        if record.topic != self._candidates_topic:
            return
        try:
            await self._curator.drop_part(codec.admit(record.value, Part), rejected.reason)
        except Rejected as unknown:
            # Not even its request is known, or it is none that could be: the window asks again after its deadline.
            log.warning("the part at %s[%d]@%d cannot be answered for: %s", *position(record), unknown)


def raise_first(errors: list[BaseException]) -> None:
    """What cannot pass comes before what may: a batch is tried again only when that can help."""
    for error in sorted(errors, key=lambda error: isinstance(error, Retryable)):
        raise error
