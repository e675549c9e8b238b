"""Continues the trace of the caller and passes it on to the commands that a request sends."""

from opentelemetry.trace import SpanKind, StatusCode
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.observability import traces

UNTRACED_PATHS = "/health"  # probes, every few seconds


class TracingMiddleware:
    """ASGI middleware. Spans carry the route's template instead of the path, because paths may name people."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(UNTRACED_PATHS):
            await self._app(scope, receive, send)
            return
        traceparent = Headers(scope=scope).get(traces.HEADER)
        if traceparent is None and not traces.recording():
            await self._app(scope, receive, send)
            return
        cause = None if traceparent is None else traces.parse_traceparent(traceparent.encode("latin-1"))
        with traces.span(
            scope["method"], {"http.request.method": scope["method"]}, causes=(cause,), kind=SpanKind.SERVER
        ) as span:

            async def send_observed(message: Message) -> None:
                if message["type"] == "http.response.start":
                    route = getattr(scope.get("route"), "path", None)
                    if route is not None:
                        span.update_name(f"{scope['method']} {route}")
                        span.set_attribute("http.route", route)
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_status(StatusCode.ERROR)
                await send(message)

            await self._app(scope, receive, send_observed)
