"""What the API answers, with meters around it."""

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.memories.access_counter import AccessCounter, HasMemoryId
from agents.conversations.lookup import Conversation
from agents.retrieval.recall import Recall
from agents.retrieval.rights import MayRead, everything
from deploy.metrics.api_meters import ApiMeters
from schemas.retrieval.blocks import Block, BlockQuery


class MeasuredRequests:
    """ASGI middleware. Counts by the route's template: paths name memories and namespaces, and there is no end of them."""

    def __init__(self, app: ASGIApp, meters: ApiMeters, clock: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._meters = meters
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = self._clock(), 500

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, tell)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._meters.requests_s.labels(scope["method"], route, str(status)).observe(self._clock() - begun)


class MeasuredAccesses(AccessCounter):
    """Counts the memories that are read, in whatever way."""

    def __init__(self, accesses: Any, clock: Callable[[], datetime], meters: ApiMeters) -> None:
        super().__init__(accesses, clock)
        self._meters = meters

    def note(self, memories: Iterable[HasMemoryId]) -> None:
        read = list(memories)
        self._meters.retrieved.inc(len(read))
        super().note(read)


class MeasuredRecall(Recall):
    """Counts the blocks that are made. What it is made of besides `meters` is Recall's."""

    def __init__(self, *parts: Any, meters: ApiMeters) -> None:
        super().__init__(*parts)
        self._meters = meters

    async def block(
        self, asked: BlockQuery, conversation: Conversation | None, may_read: MayRead = everything
    ) -> Block:
        made = await super().block(asked, conversation, may_read)
        self._meters.blocks.labels("some" if made.memories else "none").inc()
        return made
