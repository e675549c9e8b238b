"""Headers of extraction requests. With them, a request that cannot be decoded still gets an `extraction_failed`."""

from datetime import datetime
from typing import Any

from schemas import codec
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.windows.window_controls import WindowControl

REQUEST_ID = "request-id"  # without the prefix of dead letters' own headers, so that a dead letter keeps this header


def request_headers(request: ExtractionRequest) -> tuple[tuple[str, bytes], ...]:
    """The headers of a request's record."""
    return ((REQUEST_ID, request.request_id.encode()),)


def extraction_failed_record(record: Any, rejected: Rejected, at: datetime) -> Outgoing | None:
    """The control event `extraction_failed`, without which the window would repeat the request for ever; None if the record
    does not name the window.

    `record` is an aiokafka ConsumerRecord of the requests' topic; its key is the conversation, its partition that of the
    conversation's messages.
    """
    request_id, conversation_id = text(dict(record.headers).get(REQUEST_ID)), text(record.key)
    if not request_id or not conversation_id:
        return None
    failed = WindowControl(
        conversation_id=conversation_id,
        kind="extraction_failed",
        at=at,
        request_id=request_id,
        reason=rejected.reason,
    )
    return Outgoing(topic=topics.WINDOW_CONTROL, key=record.key, value=codec.encode(failed), partition=record.partition)


def text(value: bytes | None) -> str:
    """The value as text; empty if it is missing or not UTF-8."""
    try:
        return (value or b"").decode()
    except UnicodeDecodeError:
        return ""
