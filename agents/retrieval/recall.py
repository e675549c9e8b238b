"""Recall: the memories that fit a prompt and what was just said, found side by side and made into a context block."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from agents.conversations.lookup import Conversation
from agents.retrieval.admission import Admission
from agents.retrieval.block import IsKnown, Limits, TokenCount, block
from agents.retrieval.block_style import BlockStyle, is_group
from agents.retrieval.rights import MayRead, everything, permitted
from schemas.conversations.messages import Message, Scope
from schemas.memories.memories import Memory
from schemas.policies.namespaces import UNSAID
from schemas.policies.policies import Policy, PolicySelector
from schemas.profile.profiles import Profile
from schemas.retrieval.block_settings import BlockSettings
from schemas.retrieval.blocks import Block, BlockQuery
from schemas.retrieval.searches import Found, Hit, Query, SaidHit, Tier

SETTLING: Final = timedelta(seconds=5)  # after a slice was completed, until any search finds its memories
SPARE: Final = 20  # memories beyond those wanted: some tell only what the messages tell, some have no room
MOST_FOUND: Final = 100


class Searching(Protocol):
    """agents.retrieval.tiers.Tiers."""

    async def search(self, asked: Query) -> Found: ...


class Waiting(Protocol):
    """sinks.archive.messages.Archive."""

    async def unextracted(self, conversation_id: str, completed_before: datetime) -> tuple[Message, ...]: ...


class Profiling(Protocol):
    """agents.profile.reading.Profiles."""

    async def of(self, namespaces: Sequence[str], policy: Policy) -> Profile: ...


class Target(Struct, frozen=True):
    """In which namespaces is looked, how it is told, and what is known of whom it is about."""

    namespaces: tuple[str, ...]
    policy: Policy
    scope: Scope


class Recall:
    """`count_tokens` counts as windows count. `admission` bounds the blocks that are made at a time."""

    def __init__(
        self,
        retrieval: Searching,
        archive: Waiting,
        policies: PolicySelector,
        count_tokens: TokenCount,
        clock: Callable[[], datetime],
        profiles: Profiling | None = None,
        admission: Admission | None = None,
    ) -> None:
        self._retrieval = retrieval
        self._archive = archive
        self._policies = policies
        self._count_tokens = count_tokens
        self._clock = clock
        self._profiles = profiles
        self._admission = admission

    def target(self, asked: BlockQuery, conversation: Conversation | None) -> Target | None:
        """None when nothing says in which namespaces to look.

        What a conversation is known to be goes before what is said of it, and that before what a namespace's name tells.
        """
        if conversation is not None:
            policy, scope = conversation.policy, conversation.scope
        elif asked.scope is not None:
            scope = Scope(conversation_id=asked.conversation_id or UNSAID, **asdict(asked.scope))
            policy = self._policies.match(scope)
        elif asked.namespaces:
            first = asked.namespaces[0]
            scope = next(iter(self._policies.scopes_feeding(first)), Scope(conversation_id=UNSAID))
            policy = self._policies.governing(first)
        else:
            return None
        return Target(asked.namespaces or policy.namespaces_of(scope), policy, scope)

    async def block(
        self, asked: BlockQuery, conversation: Conversation | None, may_read: MayRead = everything
    ) -> Block:
        """The block that is asked for; there is a target. Checked before is whether the caller may read the target's namespaces
        and the `conversation`, None where there is none or none is known yet; `may_read` is for passages, which have owners.

        Raises Retryable, Overloaded among them, and Rejected `budget_too_small`.
        """
        target = self.target(asked, conversation)
        if target is None:
            raise ValueError("neither namespaces nor a known conversation nor a scope are given")
        async with self._admission.place() if self._admission else nullcontext():
            return await self._block(asked, target, conversation, may_read)

    async def _block(
        self, asked: BlockQuery, target: Target, conversation: Conversation | None, may_read: MayRead
    ) -> Block:
        limits = limits_of(asked, target.policy.block)
        found, tail, profile = await asyncio.gather(
            self._found(asked, target.namespaces, limits), self._tail(asked, conversation), self._profile(asked, target)
        )
        style = BlockStyle.of(target.policy.block, target.namespaces[0], target.scope, asked.cite)
        style = replace(style, in_group=is_group(tail, target.scope.user_id), now=self._clock())
        earlier = [hit for hit in permitted(found, may_read).said if not in_prompt(hit, asked)]
        made = block(
            beside(profile, found.hits, asked), tail, style, limits, self._count_tokens, known_from(asked), earlier
        )
        return replace(
            made,
            namespaces=target.namespaces,
            policy=target.policy.name,
            degraded=found.degraded,
            conversation_known=conversation is not None,
            profile=told(profile, asked),
        )

    async def _found(self, asked: BlockQuery, namespaces: tuple[str, ...], limits: Limits) -> Found:
        """Each tier by itself: neither takes the other's room before it is known how much of it there is."""
        wanted = Query(
            namespaces=namespaces, text=asked.text, filters=asked.filters, floor=asked.floor, asked_at=asked.asked_at
        )
        memories, said = await asyncio.gather(
            self._tier(wanted, "memories", limits.max_memories), self._tier(wanted, "said", limits.max_said)
        )
        degraded = tuple(dict.fromkeys((*memories.degraded, *said.degraded)))
        return Found(hits=memories.hits, said=said.said, degraded=degraded)

    async def _tier(self, wanted: Query, tier: Tier, most: int) -> Found:
        if not most or (tier == "said" and not wanted.asks_passages):
            return Found()
        return await self._retrieval.search(replace(wanted, tier=tier, limit=min(most + SPARE, MOST_FOUND)))

    async def _profile(self, asked: BlockQuery, target: Target) -> Profile | None:
        if self._profiles is None or asked.profile is False:
            return None
        return await self._profiles.of(target.namespaces, target.policy)

    async def _tail(self, asked: BlockQuery, conversation: Conversation | None) -> Sequence[Message]:
        """Under a policy without extraction nothing waits for one: the conversation's own context has its messages."""
        if conversation is None or not asked.tail or not conversation.policy.extract:
            return ()
        waiting = await self._archive.unextracted(conversation.conversation_id, self._clock() - SETTLING)
        return [said for said in waiting if not asked.knows(said.message_id, said.timestamp)]


def beside(profile: Profile | None, hits: Sequence[Hit], asked: BlockQuery) -> Sequence[Hit]:
    """The hits without those that the profile tells, if it stands in the prompt."""
    if profile is None or not asked.has_profile:
        return hits
    return [hit for hit in hits if hit.memory.memory_id not in profile.memory_ids]


def told(profile: Profile | None, asked: BlockQuery) -> Profile | None:
    """Without its text and lines, if the caller has this version."""
    if profile is None or profile.version != asked.profile_version:
        return profile
    return replace(profile, text="", lines=(), unchanged=True)


def limits_of(asked: BlockQuery, settings: BlockSettings) -> Limits:
    return Limits(
        max_tokens=settings.max_tokens if asked.max_tokens is None else asked.max_tokens,
        max_memories=settings.max_memories if asked.max_memories is None else asked.max_memories,
        tail_share=settings.tail_share,
        max_said=settings.max_said if asked.max_said is None else asked.max_said,
        said_share=settings.said_share,
        order=asked.order or settings.order,
    )


def in_prompt(hit: SaidHit, asked: BlockQuery) -> bool:
    """Whether the prompt has the message already."""
    said = hit.passage
    return said.conversation_id == asked.conversation_id and asked.knows(said.message_id, said.said_at)


def known_from(asked: BlockQuery) -> IsKnown:
    """A memory says nothing but what messages say when all its sources are among them, and nobody has worded it anew since."""

    def is_known(memory: Memory, whole: frozenset[str]) -> bool:
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

    return is_known
