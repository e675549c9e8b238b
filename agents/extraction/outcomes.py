"""Outcomes of requests that get no answer: a dead letter, and a control event for the window."""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final

from opentelemetry.trace import SpanKind, get_current_span

from agents.dead_letters.writer import dead_letter, position
from agents.extraction.records import window_control_record
from agents.stage.leases import StillHeld
from agents.windows.records import request_attributes
from agents.windows.request_headers import extraction_failed_record
from schemas.errors import MemstreamError, Rejected
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from schemas.observability.log_context import about
from schemas.windows.window_controls import WindowControl
from sinks.extraction.answers import Extractions

log = logging.getLogger(__name__)

STAGE: Final = "extraction"


class RequestOutcomes:
    """`without_erased` removes erased messages from a request; it raises Retryable.

    `record` is the request's ConsumerRecord, or a parked request with the same fields. Methods return whether an outcome is
    stored and published, so that the record may be acked: False once `still_held` says that another worker owns it. They
    raise Retryable.
    """

    def __init__(
        self,
        extractions: Extractions,
        publisher: Publisher,
        clock: Callable[[], datetime],
        without_erased: Callable[[ExtractionRequest], Awaitable[ExtractionRequest]],
    ) -> None:
        self._without_erased = without_erased
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
        """Runs `attempt` with the record's request. A request that can never be answered, and a record that does not decode,
        become dead letters. Other MemstreamErrors are raised."""
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
            # An unexpected error would repeat on every worker: a dead letter keeps the slice from stopping them all.
            log.exception("the request at %s[%d]@%d failed unexpectedly: writing a dead letter", *position(record))
            return await self._give_up(record, request, Rejected("unforeseen", repr(exc)), still_held)

    async def _give_up(
        self, record: Any, request: ExtractionRequest, rejected: Rejected, still_held: StillHeld
    ) -> bool:
        """Stores the failure, then publishes a dead letter with the whole slice (for replays) and a control event for the
        window.

        A summary request has no window that waits. The failure is stored even if another worker owns the request: the next
        owner then publishes it without another model call.
        """
        await self._extractions.fail(request.request_id, rejected)
        if not still_held():
            return False
        outgoing = await self._dead_letters(record, request, rejected)
        if request.purpose == "extract":
            outgoing.append(window_control_record(request, self._failure_event(request, rejected)))
        if not still_held():
            return False
        await self._publisher.publish(outgoing)
        await self._extractions.mark_failure_reported(request.request_id)
        return True

    async def _dead_letters(self, record: Any, request: ExtractionRequest, rejected: Rejected) -> list[Outgoing]:
        """The dead letter; by reference if some messages are erased, and none if all are. An erasure may have searched the
        dead-letter topic already."""
        remaining = await self._without_erased(request)
        if remaining == request:
            return [dead_letter(record, STAGE, rejected, self._clock())]
        reduced = Rejected(rejected.reason, "some of its messages were erased meanwhile")
        return [dead_letter(record, STAGE, reduced, self._clock(), by_reference=True)] if remaining.messages else []

    async def _dead_letter(self, record: Any, rejected: Rejected, still_held: StillHeld) -> bool:
        failed = extraction_failed_record(record, rejected, self._clock())
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
