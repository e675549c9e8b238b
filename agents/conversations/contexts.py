"""Contexts of conversations: reads what was said and applies the rules on the terms that the window itself is kept on."""

from collections.abc import Callable, Sequence
from datetime import datetime
from math import inf
from typing import Protocol

from agents.conversations.context import KnownWindow, build_context
from agents.conversations.kept_counts import KeptCounts
from agents.conversations.lookup import Conversation
from agents.windows.terms import WindowTerms
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.contexts import ContextQuery, ConversationContext
from schemas.conversations.windows import Gap
from sinks.archive.messages import ArchivedMessage, Place
from streams.windows.arrival import arrived
from streams.windows.context import gaps
from streams.windows.detectors.detect import detect_in
from streams.windows.marks import weighed
from streams.windows.pruning.importance import RECENCY, importance
from streams.windows.segments import Segmentation
from streams.windows.tokens.counting import TokenCount, message_tokens


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
        self, archive: ArchivedPages, terms: WindowTerms, count_tokens: KeptCounts, clock: Callable[[], datetime]
    ) -> None:
        self._archive = archive
        self._terms = terms
        self._count_tokens = count_tokens
        self._clock = clock

    async def build(self, conversation: Conversation, asked: ContextQuery) -> ConversationContext:
        """What a model is to be shown of the conversation now. Raises Retryable, and Rejected `context_too_small`."""
        state = conversation.state
        model = asked.model or (state.model if state else None)
        terms = self._terms.of(conversation.scope, model, state.adjustments.settings if state else None)
        added = self._terms.tool_use(model) if asked.tools else 0
        archived = await self._messages(conversation)
        gaps_of = () if state is None else state.gaps
        await self._count_tokens.prepare(
            each.message.content for each in archived if not gaps.holds(gaps_of, each.position)
        )
        now = self._clock().timestamp()
        return build_context(archived, KnownWindow.of(state), asked, terms.budget, self._count_tokens, now, added)

    async def measured(
        self, conversation: Conversation, archived: Sequence[ArchivedMessage]
    ) -> list[tuple[int, float]]:
        """Counted tokens of each message, and how important it is now. Raises Retryable."""
        name, now = conversation.conversation_id, self._clock().timestamp()
        latest = await self._archive.page(name, beyond=None, limit=len(RECENCY), backwards=True)
        said = [(each.partition, each.position) for each in latest if each.message.role != "system"]
        await self._count_tokens.prepare(each.message.content for each in archived)
        set_apart = conversation.state.adjustments if conversation.state else Adjustments()
        return [measures(each, said, self._count_tokens, now, set_apart) for each in archived]

    async def _messages(self, conversation: Conversation) -> tuple[ArchivedMessage, ...]:
        """Of a window that nothing is known of yet, in the partition of its latest message."""
        name, state = conversation.conversation_id, conversation.state
        if state is not None:
            return await self._archive.window(name, state.partition, state.opened, state.gaps)
        latest = await self._archive.page(name, beyond=None, limit=1, backwards=True)
        return await self._archive.window(name, latest[0].partition, 0, ()) if latest else ()


def measures(
    archived: ArchivedMessage, latest: Sequence[Place], count: TokenCount, now: float, adjustments: Adjustments
) -> tuple[int, float]:
    """`latest` are the places of the conversation's last messages but system prompts."""
    message, place = archived.message, (archived.partition, archived.position)
    tokens = message_tokens(message, count)
    _, turn, _ = arrived(message, detect_in(message), archived.position, tokens, Segmentation(), inf)
    newer = sum(other[0] == place[0] and other > place for other in latest)
    return tokens, importance(weighed(turn, adjustments), newer, now)
