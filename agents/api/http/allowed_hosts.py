"""Protects a server without keys from web pages: checks the Host and Origin headers against DNS rebinding and cross-site
requests."""

import re
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agents.api.http.problems import Problem, problem_response

LOOPBACK_HOSTS: Collection[str] = ("127.0.0.1", "::1", "localhost")
HOST_PATTERN: Final = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{0,5})?", re.ASCII | re.IGNORECASE)


class AllowedHosts:
    """ASGI middleware. Responds 421 to requests for another `Host`, and 403 to requests from pages of another origin."""

    def __init__(self, app: ASGIApp, allowed: Collection[str] = LOOPBACK_HOSTS) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            problem = self._problem(request)
            if problem is not None:
                await problem_response(request, problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _problem(self, request: Request) -> Problem | None:
        names = ", ".join(self._allowed)
        if requested_host(request.headers.getlist("host")) not in self._allowed:
            return Problem(421, "misdirected-request", f"without API keys this server only accepts the hosts {names}")
        # Browsers send Origin with every request that could change something; other clients send none.
        if any(hostname(origin) not in self._allowed for origin in request.headers.getlist("origin")):
            return Problem(
                403, "foreign-origin", f"without API keys this server only accepts requests from pages of {names}"
            )
        return None


def requested_host(hosts: Sequence[str]) -> str | None:
    """Returns the host name of the only `Host` header, or None if the header is missing, repeated or malformed. It reads the
    header itself, as `request.url` falls back to the server's own address."""
    if len(hosts) != 1 or (host := HOST_PATTERN.fullmatch(hosts[0])) is None:
        return None
    return host["name"].lower().strip("[]")


def hostname(origin: str) -> str | None:
    """Returns the host of an origin; None for a malformed origin and for `null`, which sandboxed pages send."""
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None
