"""Exports traces over HTTP with OpenTelemetry's SDK, configured by its OTEL_* variables."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from deploy.settings import Settings
from schemas.observability import traces

LAST_SENT_WITHIN_S = 3.0  # seconds that a stopping process waits for a collector that does not respond


@contextmanager
def export_traces(settings: Settings, service: Literal["memstream-worker", "memstream-api"]) -> Iterator[None]:
    """Exports spans while the block runs, as MEMSTREAM_TRACES says. With `off` it starts no thread and no connection."""
    if settings.traces == "off":
        yield
        return
    named = Resource.create({SERVICE_NAME: service}).merge(
        OTELResourceDetector().detect()
    )  # OTEL_SERVICE_NAME takes precedence
    provider = TracerProvider(resource=named, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    traces.record_with(provider)
    try:
        yield
    finally:
        traces.record_with(None)
        # In a thread that may be abandoned: the exporter retries for ten seconds, whatever its timeout.
        sending = threading.Thread(target=provider.shutdown, name="last spans", daemon=True)
        sending.start()
        sending.join(LAST_SENT_WITHIN_S)
