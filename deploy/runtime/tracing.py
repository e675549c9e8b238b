"""Sending traces: OpenTelemetry's SDK with its exporter over HTTP, set up by its own variables, OTEL_*."""

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

LAST_SENT_WITHIN_S = 3.0  # what a process waits at its end for a collector that does not answer


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
        # In a thread that is left behind if need be: the exporter tries again for ten seconds, whatever it is told.
        sending = threading.Thread(target=provider.shutdown, name="last spans", daemon=True)
        sending.start()
        sending.join(LAST_SENT_WITHIN_S)
