"""Contexts of conversations: reads what was said and applies the rules on the terms that the window itself is kept on."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from agents.conversations.context import KnownWindow, build_context
from agents.conversations.lookup import Conversation
from agents.windows.terms import WindowTerms
from schemas.conversations.contexts import ContextQuery, ConversationContext
from schemas.conversations.windows import Gap
from sinks.archive.messages import ArchivedMessage, Place
from streams.windows.tokens.counting import TokenCount


class ArchivedPages(Protocol):
    """sinks.archive.messages.Archive."""

    async def page(
        self, conversation_id: str, *, beyond: Place | None, limit: int, backwards: bool = False
    ) -> tuple[ArchivedMessage, ...]: ...

    async def window(
        self, conversation_id: str, partition: int, opened: int, gaps: Sequence[Gap]
    ) -> tuple[ArchivedMessage, ...]: ...


class Contexts:
    """`terms` are told of changed policies and calibrations by whoever made them."""

    def __init__(
        self, archive: ArchivedPages, terms: WindowTerms, count_tokens: TokenCount, clock: Callable[[], datetime]
    ) -> None:
        self._archive = archive
        self._terms = terms
        self._count_tokens = count_tokens
        self._clock = clock

    async def build(self, conversation: Conversation, asked: ContextQuery) -> ConversationContext:
        """What a model is to be shown of the conversation now. Raises Retryable, and Rejected `context_too_small`."""
        state = conversation.state
        model = asked.model or (state.model if state else None)
        terms = self._terms.of(conversation.scope, model)
        added = self._terms.tool_use(model) if asked.tools else 0
        archived = await self._messages(conversation)
        now = self._clock().timestamp()
        return build_context(archived, KnownWindow.of(state), asked, terms.budget, self._count_tokens, now, added)

    async def _messages(self, conversation: Conversation) -> tuple[ArchivedMessage, ...]:
        """Of a window that nothing is known of yet, in the partition of its latest message."""
        name, state = conversation.conversation_id, conversation.state
        if state is not None:
            return await self._archive.window(name, state.partition, state.opened, state.gaps)
        latest = await self._archive.page(name, beyond=None, limit=1, backwards=True)
        return await self._archive.window(name, latest[0].partition, 0, ()) if latest else ()
