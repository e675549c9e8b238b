"""What can still be told of an extraction request that does not decode: its headers and key say whose it was."""

from datetime import datetime
from typing import Any

from schemas import codec
from schemas.conversations.window_controls import WindowControl
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.kafka.records import Outgoing

REQUEST_ID = "request-id"  # without the prefix of a dead letter's own headers, so that a letter keeps it


def headers_of(request: ExtractionRequest) -> tuple[tuple[str, bytes], ...]:
    """The headers of a request's record."""
    return ((REQUEST_ID, request.request_id.encode()),)


def failure_of(record: Any, rejected: Rejected, at: datetime) -> Outgoing | None:
    """`extraction_failed` for the window that would ask again for ever; None when nothing says which window that is.

    `record` is an aiokafka ConsumerRecord of the requests' topic, whose key is the conversation and whose partition is that
    of the conversation's messages.
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
    """Empty for what is missing or is no UTF-8."""
    try:
        return (value or b"").decode()
    except UnicodeDecodeError:
        return ""
