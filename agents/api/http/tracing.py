"""Continues the caller's trace; commands of the request carry it on."""

from opentelemetry.trace import SpanKind, StatusCode
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.observability import traces

UNHEARD = "/health"  # of those who look whether the process lives, every few seconds


class TracingMiddleware:
    """ASGI middleware. Names the route's template and never the path: that names people."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(UNHEARD):
            await self._app(scope, receive, send)
            return
        said = Headers(scope=scope).get(traces.HEADER)
        if said is None and not traces.recording():
            await self._app(scope, receive, send)
            return
        cause = None if said is None else traces.parse_traceparent(said.encode("latin-1"))
        with traces.span(
            scope["method"], {"http.request.method": scope["method"]}, causes=(cause,), kind=SpanKind.SERVER
        ) as span:

            async def tell(message: Message) -> None:
                if message["type"] == "http.response.start":
                    route = getattr(scope.get("route"), "path", None)
                    if route is not None:
                        span.update_name(f"{scope['method']} {route}")
                        span.set_attribute("http.route", route)
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_status(StatusCode.ERROR)
                await send(message)

            await self._app(scope, receive, tell)
