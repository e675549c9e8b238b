"""Recall: the memories that fit a prompt and what was just said, found side by side and made into a context block."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec.structs import replace

from agents.conversations.finding import Conversation
from agents.retrieval.block import Covers, Limits, TokenCount, block
from agents.retrieval.block_style import BlockStyle
from schemas.block_settings import BlockSettings
from schemas.blocks import Block, BlockQuery
from schemas.memories import Memory
from schemas.messages import Message, Scope
from schemas.namespaces import UNSAID
from schemas.policies import Choosing, Policy
from schemas.searches import Found, Query

SETTLING: Final = timedelta(seconds=5)  # after a slice was completed, until any search finds its memories
SPARE: Final = 20  # memories beyond those wanted: some tell only what the messages tell, some have no room
MOST_FOUND: Final = 100


class Searching(Protocol):
    """agents.retrieval.search.Retrieval."""

    async def search(self, asked: Query) -> Found: ...


class Waiting(Protocol):
    """sinks.archive.Archive."""

    async def unextracted(self, conversation_id: str, completed_before: datetime) -> tuple[Message, ...]: ...


class Recall:
    """`count_tokens` counts as windows count."""

    def __init__(
        self,
        retrieval: Searching,
        archive: Waiting,
        policies: Choosing,
        count_tokens: TokenCount,
        clock: Callable[[], datetime],
    ) -> None:
        self._retrieval = retrieval
        self._archive = archive
        self._policies = policies
        self._count_tokens = count_tokens
        self._clock = clock

    async def block(self, asked: BlockQuery, conversation: Conversation | None) -> Block:
        """The block that is asked for. What the caller may read was looked at before: the namespaces, and the `conversation`,
        None where there is none or none is known yet. One of the two says the namespaces.

        Raises Retryable, and Rejected `budget_too_small`.
        """
        namespaces = asked.namespaces or namespaces_of(conversation)
        policy = conversation.policy if conversation else self._policies.governing(namespaces[0])
        limits = limits_of(asked, policy.block)
        found, tail = await asyncio.gather(
            self._found(asked, namespaces, limits.max_memories), self._tail(asked, conversation)
        )
        scope = conversation.scope if conversation else self._scope_of(namespaces[0])
        made = block(
            found.hits,
            tail,
            BlockStyle.of(policy.block, namespaces[0], scope, asked.cite),
            limits,
            self._count_tokens,
            covers(asked),
        )
        return told(made, namespaces, policy, found, conversation)

    async def _found(self, asked: BlockQuery, namespaces: tuple[str, ...], most: int) -> Found:
        if not most:
            return Found(hits=())
        limit = min(most + SPARE, MOST_FOUND)
        return await self._retrieval.search(
            Query(namespaces=namespaces, text=asked.text, filters=asked.filters, limit=limit, floor=asked.floor)
        )

    async def _tail(self, asked: BlockQuery, conversation: Conversation | None) -> Sequence[Message]:
        """Under a policy without extraction nothing waits for one: the conversation's own context has its messages."""
        if conversation is None or not asked.tail or not conversation.policy.extract:
            return ()
        waiting = await self._archive.unextracted(conversation.conversation_id, self._clock() - SETTLING)
        return [said for said in waiting if not asked.knows(said.message_id, said.timestamp)]

    def _scope_of(self, namespace: str) -> Scope:
        """As far as the namespace's name tells."""
        return next(iter(self._policies.fed_by(namespace)), Scope(conversation_id=UNSAID))


def namespaces_of(conversation: Conversation | None) -> tuple[str, ...]:
    """Those that its policy derives; not those of others who said something in it."""
    if conversation is None:
        raise ValueError("neither namespaces nor a conversation are given")
    return conversation.policy.namespaces_of(conversation.scope)


def limits_of(asked: BlockQuery, settings: BlockSettings) -> Limits:
    return Limits(
        max_tokens=settings.max_tokens if asked.max_tokens is None else asked.max_tokens,
        max_memories=settings.max_memories if asked.max_memories is None else asked.max_memories,
        tail_share=settings.tail_share,
        order=asked.order or settings.order,
    )


def covers(asked: BlockQuery) -> Covers:
    """A memory tells nothing but what messages tell when all its sources are among them, and nobody has worded it anew since."""

    def covered(memory: Memory, whole: frozenset[str]) -> bool:
        reworded = memory.version - 1 > memory.reinforcement_count
        return (
            bool(memory.sources)
            and not (reworded or memory.pinned)
            and all(
                source.conversation_id == asked.conversation_id
                and (source.message_id in whole or asked.knows(source.message_id, source.timestamp))
                for source in memory.sources
            )
        )

    return covered


def told(
    made: Block, namespaces: tuple[str, ...], policy: Policy, found: Found, conversation: Conversation | None
) -> Block:
    return replace(
        made,
        namespaces=namespaces,
        policy=policy.name,
        degraded=found.degraded,
        conversation_known=conversation is not None,
    )
