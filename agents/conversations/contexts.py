"""Builds contexts of conversations: reads the archive and applies the window's rules and terms."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from math import inf
from typing import Any, Final, Protocol, TypeVar

from agents.conversations.context import KnownWindow, build_context, message_traits
from agents.conversations.lookup import Conversation
from agents.conversations.token_count_cache import TokenCountCache
from agents.windows.terms import WindowTerms
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.contexts import ContextQuery, ConversationContext, CurrentMessage
from schemas.conversations.messages import Message
from schemas.conversations.windows import Gap
from sinks.archive.messages import ArchivedMessage, Place
from streams.windows.arrival import make_entry
from streams.windows.context.tally import Tally
from streams.windows.marks import weighed
from streams.windows.pruning import pruning
from streams.windows.pruning.importance import RECENCY, importance
from streams.windows.segments import Segmentation
from streams.windows.tokens.counting import message_tokens

MAX_LOOP_CHARS: Final = 20_000  # characters whose tokens are counted on the event loop, in about 1 ms
SCALAR_CHARS: Final = 4  # characters that a number, Boolean or null counts as

Made = TypeVar("Made")


class ArchivedPages(Protocol):
    """sinks.archive.messages.Archive."""

    async def page(
        self, conversation_id: str, *, beyond: Place | None, limit: int, backwards: bool = False
    ) -> tuple[ArchivedMessage, ...]: ...

    async def window(
        self, conversation_id: str, partition: int, opened: int, gaps: Sequence[Gap]
    ) -> tuple[ArchivedMessage, ...]: ...


class Contexts:
    """`terms` are updated with policies and calibrations by the caller."""

    def __init__(
        self, archive: ArchivedPages, terms: WindowTerms, count_tokens: TokenCountCache, clock: Callable[[], datetime]
    ) -> None:
        self._archive = archive
        self._terms = terms
        self._count_tokens = count_tokens
        self._clock = clock

    async def build(self, conversation: Conversation, query: ContextQuery) -> ConversationContext:
        """The context that a model should get now. Raises Retryable, and Rejected `context_too_small`."""
        state = conversation.state
        model = query.model or (state.model if state else None)
        terms = self._terms.of(conversation.scope, model, conversation.choices)
        added = self._terms.tool_use(model) if query.tools else 0
        archived = await self._messages(conversation)
        now = self._clock().timestamp()
        known, count = KnownWindow.of(state), self._count_tokens
        make = partial(build_context, archived, known, query, terms.budget, count, now, added, count.detect)
        return await in_thread(make, chain(query_texts(query), *(texts_of(each.message) for each in archived)))

    async def prunable(self, conversation: Conversation) -> tuple[int, int]:
        """The number of messages that a manual prune would remove from the context now, and the resulting reduction in
        billed tokens. Raises Retryable."""
        state = conversation.state
        terms = self._terms.of(conversation.scope, state.model if state else None, conversation.choices)
        archived, known, now = await self._messages(conversation), KnownWindow.of(state), self._clock().timestamp()

        def decide() -> tuple[int, int]:
            said = {each.position: each.message for each in archived}
            gap_s, count = terms.policy.window.task_gap_s, self._count_tokens
            turns = message_traits(said, known, gap_s, count, count.detect)
            decision = pruning.prune(turns, known.gaps, terms.budget, now, "manual")
            before = Tally.of(turns, known.gaps).used_tokens
            return len(decision.removed), terms.budget.billed(before) - terms.budget.billed(decision.tokens)

        return await in_thread(decide, chain(*(texts_of(each.message) for each in archived)))

    async def measured(
        self, conversation: Conversation, archived: Sequence[ArchivedMessage]
    ) -> list[tuple[int, float]]:
        """The counted tokens and the importance of each message now. Raises Retryable."""
        name, now = conversation.conversation_id, self._clock().timestamp()
        latest = await self._archive.page(name, beyond=None, limit=len(RECENCY), backwards=True)
        said = [(each.partition, each.position) for each in latest if each.message.role != "system"]
        set_apart = conversation.state.adjustments if conversation.state else Adjustments()
        make = partial(measures, archived, said, self._count_tokens, now, set_apart)
        return await in_thread(make, chain(*(texts_of(each.message) for each in archived)))

    async def _messages(self, conversation: Conversation) -> tuple[ArchivedMessage, ...]:
        """The messages of the window; of one that is not projected yet, those in the partition of its latest message."""
        name, state = conversation.conversation_id, conversation.state
        if state is not None:
            return await self._archive.window(name, state.partition, state.opened, state.gaps)
        latest = await self._archive.page(name, beyond=None, limit=1, backwards=True)
        return await self._archive.window(name, latest[0].partition, 0, ()) if latest else ()


def measures(
    archived: Sequence[ArchivedMessage],
    latest: Sequence[Place],
    count: TokenCountCache,
    now: float,
    adjustments: Adjustments,
) -> list[tuple[int, float]]:
    return [measure(each, latest, count, now, adjustments) for each in archived]


def measure(
    archived: ArchivedMessage, latest: Sequence[Place], count: TokenCountCache, now: float, adjustments: Adjustments
) -> tuple[int, float]:
    """Measures messages; `latest` are the places of the conversation's last messages except system prompts."""
    message, place = archived.message, (archived.partition, archived.position)
    tokens = message_tokens(message, count)
    _, turn, _ = make_entry(message, count.detect(message), archived.position, tokens, Segmentation(), inf)
    newer = sum(other[0] == place[0] and other > place for other in latest)
    return tokens, importance(weighed(turn, adjustments), newer, now)


async def in_thread(make: Callable[[], Made], read: Iterable[Any]) -> Made:
    """Returns `make()`, on a thread if the values it reads are long enough to block the event loop."""
    return await asyncio.to_thread(make) if exceeds_chars(read, MAX_LOOP_CHARS) else make()


def query_texts(query: ContextQuery) -> Iterator[Any]:
    yield query.system
    yield query.tools
    if query.current is not None:
        yield from texts_of(query.current)


def texts_of(message: Message | CurrentMessage) -> Iterator[Any]:
    yield message.content
    for call in message.tool_calls:
        yield call.arguments


def exceeds_chars(values: Iterable[Any], most: int) -> bool:
    """Whether values have more than about `most` characters as JSON. Stops counting once that is clear."""
    waiting = list(values)
    while waiting and most >= 0:
        each = waiting.pop()
        most -= len(each) if isinstance(each, str) else SCALAR_CHARS
        if isinstance(each, dict):
            waiting += chain(each, each.values())
        elif isinstance(each, list | tuple):
            waiting += each
    return most < 0
