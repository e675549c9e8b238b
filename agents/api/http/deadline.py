"""Limits the time until a response begins; late responses become a 503."""

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.http.problems import from_retryable, problem_response
from schemas.errors import Retryable


class DeadlineMiddleware:
    """ASGI middleware. The deadline restarts with each received part of the body and ends when the response begins, so long
    uploads and streams are not limited."""

    def __init__(self, app: ASGIApp, timeout_s: float) -> None:
        self._app = app
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._timeout_s) as deadline:
                await self._app(scope, self._extending(receive, deadline), end_deadline_with_response(send, deadline))
        except TimeoutError:
            if not deadline.expired():
                raise
            error = Retryable(f"no response within {self._timeout_s:g} s")
            await problem_response(Request(scope), from_retryable(error))(scope, receive, send)

    def _extending(self, receive: Receive, deadline: asyncio.Timeout) -> Receive:
        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request" and deadline.when() is not None:
                deadline.reschedule(asyncio.get_running_loop().time() + self._timeout_s)
            return message

        return received


def end_deadline_with_response(send: Send, deadline: asyncio.Timeout) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            deadline.reschedule(None)
        await send(message)

    return sent
