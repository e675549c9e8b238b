"""Gives each request an id, in the response and in the log: the caller's `X-Request-Id`, or a new one."""

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
PLAIN = re.compile(r"[A-Za-z0-9._-]{1,128}")  # what can do no harm in a log


class RequestIdMiddleware:
    """ASGI middleware. Logs each request by its path, without the query: namespaces name people."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        said = Headers(scope=scope).get(HEADER, "")
        request_id = said if PLAIN.fullmatch(said) else str(uuid4())
        scope.setdefault("state", {})["request_id"] = request_id
        began, status = time.perf_counter(), 500

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        with about(http_request_id=request_id):
            try:
                await self._app(scope, receive, tell)
            finally:
                took_ms = (time.perf_counter() - began) * 1_000
                path = quote(scope["path"])  # as it came: what it stands for may be a line of a log
                log.info("%s %s %d %.1f ms %s", scope["method"], path, status, took_ms, request_id)
