"""Trace propagation: a record's cause travels as a W3C `traceparent` through Kafka, windows and tables.

Spans are OpenTelemetry's, recorded only in a process with an exporter (`record_with`). Other processes pass on traces;
records without a trace cost a lookup.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    NonRecordingSpan,
    NoOpTracer,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
    TracerProvider,
)

from schemas.errors import Deferred
from schemas.kafka.records import Outgoing

HEADER: Final = "traceparent"  # of a record or an HTTP request
SHAPE: Final = re.compile(rb"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
NO_TRACE, NO_SPAN = b"0" * 32, b"0" * 16
LONGEST: Final = 128  # bytes; later versions may have more fields than the 55 bytes of version 00

Causes = Iterable[str | None]

_tracer: Tracer = NoOpTracer()


def record_with(provider: TracerProvider | None) -> None:
    """Sends this process' own spans to the provider; None: to none.

    Spans of libraries are not recorded: through OpenTelemetry's global provider they might contain messages.
    """
    global _tracer
    _tracer = NoOpTracer() if provider is None else provider.get_tracer("memstream")


def recording() -> bool:
    return not isinstance(_tracer, NoOpTracer)


def traceparent_of(headers: Iterable[tuple[str, bytes | None]]) -> str | None:
    """The traceparent among headers, in the form of version 00; None without a valid one."""
    for name, value in headers:
        if name == HEADER:
            return parse_traceparent(value or b"")
    return None


def parse_traceparent(value: bytes) -> str | None:
    """Parses the form of version 00, of which one flag has a meaning. Takes some microseconds, for each message."""
    found = SHAPE.fullmatch(value) if len(value) <= LONGEST else None
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if (version == b"00" and more) or trace_id == NO_TRACE or span_id == NO_SPAN:
        return None
    recorded = "01" if int(flags, 16) & 1 else "00"
    return f"00-{trace_id.decode()}-{span_id.decode()}-{recorded}"


def format_traceparent(context: SpanContext) -> str | None:
    if not context.is_valid:
        return None
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags & 1:02x}"


def current() -> str | None:
    """The traceparent of the current span."""
    return format_traceparent(trace.get_current_span().get_span_context())


def current_id() -> str | None:
    """The id of the current trace, 32 hexadecimal digits."""
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None


def headers() -> tuple[tuple[str, bytes], ...]:
    """The headers of a record that is created now: the traceparent, if there is one."""
    now = current()
    return () if now is None else ((HEADER, now.encode()),)


def with_traceparent(record: Outgoing) -> Outgoing:
    """The record with the current traceparent, unless it has one."""
    ours = headers()
    if not ours or any(name == HEADER for name, _ in record.headers):
        return record
    return replace(record, headers=(*record.headers, *ours))


def describe(**ids: str) -> None:
    """Sets the ids of the current work as attributes of the current span."""
    trace.get_current_span().set_attributes({f"memstream.{name}": each for name, each in ids.items()})


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, str | int | float | bool] | None = None,
    *,
    causes: Causes | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
) -> Iterator[Span]:
    """A span of work. Without `causes` it is a child of the current span. With `causes` (traceparents) it is a child of the
    only trace among them, or the root of a new trace with links to several.

    An error is recorded by its class, never by its message, which may quote users.
    """
    if not recording() and causes is not None:
        causes = tuple(causes)
        if not any(causes) and current() is None:  # no trace to record or to pass on
            yield INVALID_SPAN
            return
    context, links = (None, []) if causes is None else parent_and_links(causes)
    opened = _tracer.start_as_current_span(
        name,
        context,
        kind,
        attributes,
        links,
        record_exception=False,
        set_status_on_exception=False,
    )
    with opened as running:
        try:
            yield running
        except Deferred as deferred:  # a normal outcome, not an error
            running.set_attribute("memstream.deferred", deferred.reason)
            raise
        except Exception as exc:
            running.set_attribute("error.type", type(exc).__name__)
            running.set_status(StatusCode.ERROR)
            raise


def parent_and_links(causes: Causes) -> tuple[Context, list[Link]]:
    """The parent and the links of a span with these causes.

    Sampling decisions of callers are respected: only sampled traces are linked, and without one nothing is recorded.
    """
    found = [context_of(cause) for cause in causes if cause]
    by_trace = {each.trace_id: each for each in found}
    sampled = [each for each in by_trace.values() if each.trace_flags.sampled]
    if len(sampled) > 1:
        return Context(), [Link(each) for each in sampled]
    if not by_trace:
        return Context(), []
    return trace.set_span_in_context(NonRecordingSpan((sampled or list(by_trace.values()))[-1]), Context()), []


def context_of(traceparent: str) -> SpanContext:
    """The span context for a parsed traceparent."""
    _, trace_id, span_id, flags = traceparent.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), True, TraceFlags(int(flags, 16)))
