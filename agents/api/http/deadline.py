"""A time limit for requests: a response begins in time, or is a 503."""

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.http.problems import from_retryable, response
from schemas.errors import Retryable


class DeadlineMiddleware:
    """ASGI middleware. The time counts anew from each part of a body that comes in, and no more once the answer has begun: long
    uploads and streams take as long as they do."""

    def __init__(self, app: ASGIApp, within_s: float) -> None:
        self._app = app
        self._within_s = within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._within_s) as deadline:
                await self._app(
                    scope, self._extending(receive, deadline), without_deadline_once_answered(send, deadline)
                )
        except TimeoutError:
            if not deadline.expired():
                raise
            late = Retryable(f"there was no answer within {self._within_s:g} s")
            await response(Request(scope), from_retryable(late))(scope, receive, send)

    def _extending(self, receive: Receive, deadline: asyncio.Timeout) -> Receive:
        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request" and deadline.when() is not None:
                deadline.reschedule(asyncio.get_running_loop().time() + self._within_s)
            return message

        return received


def without_deadline_once_answered(send: Send, deadline: asyncio.Timeout) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            deadline.reschedule(None)
        await send(message)

    return sent
