"""Spans kept in memory instead of exported."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from schemas.observability import traces

CAUSE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
UNRECORDED = "00-7bf92f3577b34da6a3ce929d0e0e4736-70f067aa0ba902b7-00"  # the caller decided not to sample the trace


class Spans:
    """The ended spans, in the order of their ends."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()

    @property
    def ended(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.ended]

    def named(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.ended if span.name == name)
        return found


@contextmanager
def recorded() -> Iterator[Spans]:
    spans = Spans()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans.exporter))
    traces.record_with(provider)
    try:
        yield spans
    finally:
        traces.record_with(None)
        provider.shutdown()


def trace_of(traceparent: str | bytes | None) -> str:
    assert traceparent is not None
    return (traceparent.decode() if isinstance(traceparent, bytes) else traceparent).split("-")[1]


def linked(span: ReadableSpan) -> set[str]:
    """The traces that a span has links to."""
    return {f"{link.context.trace_id:032x}" for link in span.links}


def trace_id(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}"
