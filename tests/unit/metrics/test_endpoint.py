"""The endpoints of a worker for metrics and probes."""

import socket

import httpx
import pytest

from deploy.metrics.endpoint import serve_metrics
from deploy.metrics.meters import Meters
from schemas.errors import Misconfigured

HOST = "127.0.0.1"


async def test_metrics_are_prometheus_text_and_readiness_lists_what_is_not_ready():
    missing = ["memstream-windows"]
    async with serve_metrics(HOST, 0, Meters().registry, lambda: missing) as port, httpx.AsyncClient() as client:

        async def get(path: str) -> httpx.Response:
            return await client.get(f"http://{HOST}:{port}{path}")

        scraped = await get("/metrics")
        assert scraped.headers["content-type"].startswith("text/plain")
        assert "# TYPE memstream_outbox_rows_all gauge" in scraped.text
        assert (await get("/health/live")).status_code == 200
        not_ready = await get("/health/ready")
        assert (not_ready.status_code, not_ready.json()) == (503, {"not ready": missing})
        missing.clear()
        assert (await get("/health/ready")).status_code == 200


async def test_a_metrics_port_in_use_is_reported_with_its_setting():
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Misconfigured, match=f"port {port} .*MEMSTREAM_METRICS_PORT"):
            async with serve_metrics(HOST, port, Meters().registry, list):
                pass
