"""Outcomes of requests without an answer: a dead letter, and a notice to the window."""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final

from opentelemetry.trace import SpanKind, get_current_span

from agents.dead_letters.writer import dead_letter, position
from agents.extraction.records import window_control_record
from agents.stage.leases import StillHeld
from agents.windows.records import request_attributes
from agents.windows.undecodable import failure_of
from schemas.conversations.window_controls import WindowControl
from schemas.errors import MemstreamError, Rejected
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from schemas.observability.log_context import about
from sinks.extraction.answers import Extractions

log = logging.getLogger(__name__)

STAGE: Final = "extraction"


class RequestOutcomes:
    """`still_held` says throughout whether the request is this worker's yet; once it is not, nothing is stored or sent.

    `left_of` tells what of a request is not erased; it raises Retryable.

    `record` is the request's ConsumerRecord, or what stands for it when it was parked. Methods return whether an outcome is
    stored and published, so that the record may be acked, and raise Retryable.
    """

    def __init__(
        self,
        extractions: Extractions,
        publisher: Publisher,
        clock: Callable[[], datetime],
        left_of: Callable[[ExtractionRequest], Awaitable[ExtractionRequest]],
    ) -> None:
        self._left_of = left_of
        self._extractions = extractions
        self._publisher = publisher
        self._clock = clock

    async def run(
        self,
        record: Any,
        decode: Callable[[], ExtractionRequest],
        attempt: Callable[[ExtractionRequest], Awaitable[bool]],
        still_held: StillHeld,
    ) -> bool:
        """What `attempt` makes of the record's request. One that it can never answer is given up, and so is a record that does
        not decode. Raises whatever else is raised on purpose."""
        causes = (traces.traceparent_of(record.headers),)
        with traces.span("extraction answer", causes=causes, kind=SpanKind.CONSUMER):
            try:
                request = decode()
            except Rejected as rejected:
                return await self._dead_letter(record, rejected, still_held)
            get_current_span().set_attributes(request_attributes(request))
            with about(conversation_id=request.conversation_id, request_id=request.request_id):
                return await self._attempt(record, request, attempt, still_held)

    async def _attempt(
        self,
        record: Any,
        request: ExtractionRequest,
        attempt: Callable[[ExtractionRequest], Awaitable[bool]],
        still_held: StillHeld,
    ) -> bool:
        try:
            return await attempt(request)
        except Rejected as rejected:
            return await self._give_up(record, request, rejected, still_held)
        except MemstreamError:
            raise
        except Exception as exc:
            # Neither an outage nor a wrong set-up: this slice would fail on every worker, and must not stop them all.
            log.exception("the request at %s[%d]@%d fails for a reason nobody foresaw", *position(record))
            return await self._give_up(record, request, Rejected("unforeseen", repr(exc)), still_held)

    async def _give_up(
        self, record: Any, request: ExtractionRequest, rejected: Rejected, still_held: StillHeld
    ) -> bool:
        """The dead letter holds the whole slice, so it can be replayed; the window need not keep it. There is none for what was
        erased meanwhile, and one by reference for what was in part.

        For a summary no window waits: its marker stays as it is. The failure is recorded whoever holds the request by now: the
        next owner tells of it, and does not pay for the same question again.
        """
        await self._extractions.fail(request.request_id, rejected)
        if not still_held():
            return False
        outgoing = await self._letters(record, request, rejected)
        if request.purpose == "extract":
            outgoing.append(window_control_record(request, self._failure_event(request, rejected)))
        if not still_held():
            return False
        await self._publisher.publish(outgoing)
        await self._extractions.failure_told(request.request_id)
        return True

    async def _letters(self, record: Any, request: ExtractionRequest, rejected: Rejected) -> list[Outgoing]:
        """Dead letters may have been searched for what was erased already: none comes that still says it."""
        left = await self._left_of(request)
        if left == request:
            return [dead_letter(record, STAGE, rejected, self._clock())]
        quiet = Rejected(rejected.reason, "some of what it asks about was erased meanwhile")
        return [dead_letter(record, STAGE, quiet, self._clock(), by_reference=True)] if left.messages else []

    async def _dead_letter(self, record: Any, rejected: Rejected, still_held: StillHeld) -> bool:
        failed = failure_of(record, rejected, self._clock())
        letter = dead_letter(record, STAGE, rejected, self._clock())
        if not still_held():
            return False
        await self._publisher.publish([letter] if failed is None else [letter, failed])
        return True

    def _failure_event(self, request: ExtractionRequest, rejected: Rejected) -> WindowControl:
        return WindowControl(
            conversation_id=request.conversation_id,
            kind="extraction_failed",
            at=self._clock(),
            request_id=request.request_id,
            reason=rejected.reason,
        )
