"""Which names a server without keys answers to: a page on the web may give its own name this machine's address."""

from collections.abc import Collection

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agents.api.problems import Problem, response

LOCAL: Collection[str] = ("127.0.0.1", "::1", "localhost")


class Hosts:
    """ASGI middleware. Requests to another `Host` are answered with 421."""

    def __init__(self, app: ASGIApp, named: Collection[str] = LOCAL) -> None:
        self._app = app
        self._named = named

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            if request.url.hostname not in self._named:
                said = f"without keys this server answers to {', '.join(self._named)} alone"
                await response(request, Problem(421, "misdirected-request", said))(scope, receive, send)
                return
        await self._app(scope, receive, send)
