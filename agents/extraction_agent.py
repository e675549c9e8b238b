"""The extraction agent: many requests at a time, each acked when its answer is published or it is dead-lettered."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from agents.dead_letters import dead_letter, position
from agents.extractor import Extractor, to_window
from agents.serving import pause_s
from agents.undecodable import failure_of
from schemas import codec
from schemas.errors import MemstreamError, Rejected, Retryable
from schemas.records import Publisher
from schemas.requests import ExtractionRequest, WindowControl
from sinks.extractions import Extractions
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch

log = logging.getLogger(__name__)

STAGE = "extraction"


class ExtractionAgent:
    """`in_flight` bounds the batches taken on at a time, waiting ones included. `worker` names this process."""

    def __init__(
        self,
        app: StageApp,
        extractor: Extractor,
        extractions: Extractions,
        publisher: Publisher,
        worker: str,
        clock: Callable[[], datetime],
        *,
        in_flight: int = 8,
    ) -> None:
        self._app = app
        self._extractor = extractor
        self._extractions = extractions
        self._publisher = publisher
        self._worker = worker
        self._clock = clock
        self._in_flight = in_flight
        self._running: set[asyncio.Task[None]] = set()

    async def handle(self, batch: Batch) -> None:
        """Takes the batch on and returns; batches end in any order, and the frontier passes only finished ones."""
        while len(self._running) >= self._in_flight:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._batch(batch), name=f"extract {batch!r}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        """Ends what is still running: its batches are not held any more, and their requests are asked for again."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._extractor.close()

    async def _batch(self, batch: Batch) -> None:
        try:
            await asyncio.gather(*(self._record(batch, record) for record in batch.records))
        except Exception as exc:
            log.exception("%r cannot be answered, this worker stops", batch)
            await self._app.crash(exc)
            return
        batch.ack()

    async def _record(self, batch: Batch, record: Any) -> None:
        tries = 0
        while batch.held:
            try:
                await self._attempt(batch, record)
                return
            except Retryable as exc:
                tries += 1
                log.warning("attempt %d on request at %s[%d]@%d failed: %s", tries, *position(record), exc)
                await asyncio.sleep(pause_s(tries))

    async def _attempt(self, batch: Batch, record: Any) -> None:
        try:
            request = codec.decode(record.value, ExtractionRequest)
        except Rejected as rejected:
            await self._put_aside(batch, record, rejected)
            return
        owner = f"{self._worker}/{batch.epoch}/{record.offset}"
        try:
            await self._extractor.answer(request, owner, lambda: batch.held)
        except Rejected as rejected:
            await self._give_up(batch, record, request, rejected)
        except MemstreamError:
            raise
        except Exception as exc:
            # Neither an outage nor a wrong set-up: this slice would fail on every worker, and must not stop them all.
            log.exception("the request at %s[%d]@%d fails for a reason nobody foresaw", *position(record))
            await self._give_up(batch, record, request, Rejected("unforeseen", repr(exc)))

    async def _put_aside(self, batch: Batch, record: Any, rejected: Rejected) -> None:
        failed = failure_of(record, rejected, self._clock())
        letter = dead_letter(record, STAGE, rejected, self._clock())
        if batch.held:
            await self._publisher.publish([letter] if failed is None else [letter, failed])

    async def _give_up(self, batch: Batch, record: Any, request: ExtractionRequest, rejected: Rejected) -> None:
        """The dead letter holds the whole slice, so it can be replayed; the window need not keep it.

        For a summary no window waits: its marker stays as it is.
        """
        if not batch.held:
            return
        await self._extractions.fail(request.request_id, str(rejected))
        outgoing = [dead_letter(record, STAGE, rejected, self._clock())]
        if request.purpose == "extract":
            outgoing.append(to_window(request, self._failed(request, rejected)))
        if batch.held:
            await self._publisher.publish(outgoing)

    def _failed(self, request: ExtractionRequest, rejected: Rejected) -> WindowControl:
        return WindowControl(
            conversation_id=request.conversation_id,
            kind="extraction_failed",
            at=self._clock(),
            request_id=request.request_id,
            reason=rejected.reason,
        )
