"""Metrics, traces and logs."""

from typing import Literal

from pydantic import BaseModel, Field

from deploy.settings.defaults import Port


class ObservabilityFields(BaseModel):
    metrics_port: Port | None = Field(
        None, description="port of a worker's metrics and probes; 0: any free port; unset: none"
    )
    api_metrics_port: Port | None = Field(
        None, description="port of an API process's metrics; 0: any free port; unset: none"
    )
    metrics_host: str = Field("127.0.0.1", min_length=1, description="address of these ports")
    traces: Literal["off", "otlp"] = Field(
        "off",
        description="whether spans are exported by OTLP over HTTP; OpenTelemetry's variables, such as "
        "OTEL_EXPORTER_OTLP_ENDPOINT, set the target",
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="format of log lines: text, or one JSON object each"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="lowest level that is logged; only debug quotes messages"
    )
