"""Protects a server without keys from web pages: against DNS rebinding and cross-site requests."""

import re
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agents.api.http.problems import Problem, response

LOCAL: Collection[str] = ("127.0.0.1", "::1", "localhost")
HOST: Final = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{0,5})?", re.ASCII | re.IGNORECASE)


class AllowedHosts:
    """ASGI middleware. Requests to another `Host` are answered with 421; those that a page of another host sends, with 403."""

    def __init__(self, app: ASGIApp, named: Collection[str] = LOCAL) -> None:
        self._app = app
        self._named = named

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            problem = self._problem(request)
            if problem is not None:
                await response(request, problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _problem(self, request: Request) -> Problem | None:
        names = ", ".join(self._named)
        if requested_host(request.headers.getlist("host")) not in self._named:
            return Problem(421, "misdirected-request", f"without keys this server answers to {names} alone")
        # Browsers send it with whatever could change something; programs send none.
        if any(hostname(origin) not in self._named for origin in request.headers.getlist("origin")):
            return Problem(403, "foreign-origin", f"without keys this server answers pages of {names} alone")
        return None


def requested_host(hosts: Sequence[str]) -> str | None:
    """None unless one `Host` was sent that is a name or an address, with or without a port. The header itself is read:
    `request.url` tells the server's own address where there is none that could be read."""
    if len(hosts) != 1 or (sent := HOST.fullmatch(hosts[0])) is None:
        return None
    return sent["name"].lower().strip("[]")


def hostname(origin: str) -> str | None:
    """None for `null`, which sandboxed pages send, and for what is no origin at all."""
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None
