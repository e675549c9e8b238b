"""Assigns each request an id for the response and the log: the `X-Request-Id` header of the caller, or a new UUID."""

import logging
import re
import time
from urllib.parse import quote
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.observability.log_context import about

log = logging.getLogger(__name__)

HEADER = "X-Request-Id"
SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")  # safe to log


class RequestIdMiddleware:
    """ASGI middleware. Logs each request with its path but without its query, because queries contain namespaces, which name
    people."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        received = Headers(scope=scope).get(HEADER, "")
        request_id = received if SAFE_ID.fullmatch(received) else str(uuid4())
        scope.setdefault("state", {})["request_id"] = request_id
        began, status = time.perf_counter(), 500

        async def send_observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        with about(http_request_id=request_id):
            try:
                await self._app(scope, receive, send_observed)
            finally:
                took_ms = (time.perf_counter() - began) * 1_000
                path = quote(scope["path"])  # still escaped: a decoded path could forge a log line
                log.info("%s %s %d %.1f ms %s", scope["method"], path, status, took_ms, request_id)
