"""Metrics, traces and logs."""

from typing import Literal

from pydantic import BaseModel, Field

from deploy.settings.defaults import Port


class ObservabilityFields(BaseModel):
    metrics_port: Port | None = Field(
        None, description="port of a worker's metrics and probes; 0 takes any free one, unset serves none"
    )
    api_metrics_port: Port | None = Field(
        None, description="port of an API process's metrics; 0 takes any free one, unset serves none"
    )
    metrics_host: str = Field("127.0.0.1", min_length=1, description="address that these ports are bound to")
    traces: Literal["off", "otlp"] = Field(
        "off",
        description="whether spans are sent, by OTLP over HTTP; OTEL_EXPORTER_OTLP_ENDPOINT and its like say where",
    )
    log_format: Literal["text", "json"] = Field("text", description="log lines as text, or one JSON object each")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least level that is logged; only debug quotes what was said"
    )
