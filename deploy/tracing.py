"""Sending traces: OpenTelemetry's SDK with its exporter over HTTP, set up by its own variables, OTEL_*."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from deploy.settings import Settings
from schemas import traces

FLUSH_MS = 5_000  # what a process waits at its end for a collector that does not answer


@contextmanager
def traced(settings: Settings, service: Literal["memstream-worker", "memstream-api"]) -> Iterator[None]:
    """While it lasts spans are sent as MEMSTREAM_TRACES says. With `off` nothing is begun: no thread, no connection."""
    if settings.traces == "off":
        yield
        return
    named = Resource.create({SERVICE_NAME: service}).merge(
        OTELResourceDetector().detect()
    )  # OTEL_SERVICE_NAME counts more
    provider = TracerProvider(resource=named, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    traces.record_with(provider)
    try:
        yield
    finally:
        traces.record_with(None)
        provider.force_flush(FLUSH_MS)
        provider.shutdown()
