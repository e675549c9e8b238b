"""The exporter of spans, and no tracing thread without one."""

import socket
import threading
import time
from pathlib import Path

import pytest

from deploy.runtime import tracing
from deploy.runtime.tracing import export_traces
from deploy.settings import Settings
from schemas.observability import traces
from tests.fakes.spans import CAUSE


def test_without_an_exporter_no_tracing_thread_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    before = set(threading.enumerate())
    with export_traces(Settings(data_dir=tmp_path), "memstream-worker"):
        assert not traces.recording()
        with traces.span("work", causes=[CAUSE]):
            assert traces.current() == CAUSE
        assert set(threading.enumerate()) == before


def test_an_unresponsive_trace_collector_does_not_delay_shutdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
        monkeypatch.setattr(tracing, "LAST_SENT_WITHIN_S", 0.2)
        with export_traces(Settings(data_dir=tmp_path, traces="otlp"), "memstream-worker"):
            assert traces.recording()
            with traces.span("work"):
                assert traces.current() is not None
            began = time.monotonic()
        assert time.monotonic() - began < 1.5
        assert not traces.recording()
        (sending,) = [thread for thread in threading.enumerate() if thread.name == "last spans"]
        sending.join(10)
        assert not sending.is_alive()
