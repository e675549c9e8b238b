"""Services of the API wrapped with metrics."""

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.memories.access_counter import AccessCounter, HasMemoryId
from agents.conversations.contexts import Contexts
from agents.conversations.lookup import Conversation
from agents.retrieval.read_rights import MayRead, allow_all
from agents.retrieval.recall import Recall
from deploy.metrics.api_meters import ApiMeters
from schemas.conversations.contexts import ContextQuery, ConversationContext
from schemas.retrieval.blocks import Block, BlockPassage, BlockQuery


class MeasuredRequests:
    """ASGI middleware that counts requests by route template, as paths with ids have unbounded cardinality."""

    def __init__(self, app: ASGIApp, meters: ApiMeters, clock: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._meters = meters
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_at, status = self._clock(), 500

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, tell)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._meters.requests_s.labels(scope["method"], route, str(status)).observe(self._clock() - started_at)


class MeasuredAccesses(AccessCounter):
    """Counts all memories that are read."""

    def __init__(self, accesses: Any, clock: Callable[[], datetime], meters: ApiMeters) -> None:
        super().__init__(accesses, clock)
        self._meters = meters

    def note(self, memories: Iterable[HasMemoryId]) -> None:
        read = list(memories)
        self._meters.retrieved.inc(len(read))
        super().note(read)


class MeasuredRecall(Recall):
    """Counts context blocks. Arguments besides `meters` are Recall's."""

    def __init__(self, *parts: Any, meters: ApiMeters) -> None:
        super().__init__(*parts)
        self._meters = meters

    async def block(self, query: BlockQuery, conversation: Conversation | None, may_read: MayRead = allow_all) -> Block:
        made = await super().block(query, conversation, may_read)
        self._meters.blocks.labels("some" if made.memories else "none").inc()
        self._meters.prompt_tokens.labels("block").inc(made.tokens)
        self._meters.prompt_tokens.labels("profile").inc(made.profile.tokens if made.profile else 0)
        self._meters.pruned_messages_retrieved.inc(len(out_of_context(made, conversation)))
        return made


def out_of_context(made: Block, conversation: Conversation | None) -> list[BlockPassage]:
    """The block's passages of the conversation itself from before its context. Messages pruned in between kept ones cannot
    be told apart here."""
    oldest = conversation.state.statistics.oldest_message_at if conversation and conversation.state else None
    if conversation is None or oldest is None:
        return []
    found = (each for each in made.said if each.neighbour_of is None)
    own = (each for each in found if each.conversation_id == conversation.conversation_id)
    return [each for each in own if each.said_at.timestamp() < oldest]


class MeasuredContexts(Contexts):
    """Measures how full contexts are. Arguments besides `meters` are Contexts'."""

    def __init__(self, *parts: Any, meters: ApiMeters) -> None:
        super().__init__(*parts)
        self._meters = meters

    async def build(self, conversation: Conversation, query: ContextQuery) -> ConversationContext:
        made = await super().build(conversation, query)
        self._meters.context_used.observe(made.billed_tokens / made.limit_tokens)
        self._meters.prompt_tokens.labels("context").inc(made.billed_tokens)
        return made
