"""Builds context blocks: searches memories and passages, and reads recent messages and the profile, concurrently."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from agents.conversations.lookup import Conversation
from agents.passages.terms import stems
from agents.retrieval.admission import Admission
from agents.retrieval.block import IsKnown, block
from agents.retrieval.block_left_out import profile_left_out
from agents.retrieval.block_parts import Limits, Statement
from agents.retrieval.block_style import BlockStyle, is_group
from agents.retrieval.passage_neighbours import without_shown
from agents.retrieval.ports import SearchService
from agents.retrieval.read_rights import MayRead, allow_all
from schemas.conversations.messages import Message, Scope
from schemas.errors import Rejected
from schemas.memories.memories import Memory
from schemas.passages.passages import Passage
from schemas.policies.block_settings import BlockSettings
from schemas.policies.namespaces import UNKNOWN, render
from schemas.policies.policies import Policy, PolicySelector
from schemas.profile.profiles import Profile
from schemas.retrieval.blocks import Block, BlockQuery
from schemas.retrieval.searches import Found, Hit, Query, SaidHit, Tier
from streams.windows.tokens.counting import TokenCount

ARCHIVE_GRACE: Final = timedelta(seconds=5)  # time from a completed extraction until every search finds its memories
EXTRA_HITS: Final = 20  # further hits requested per tier: some repeat messages, some do not fit
MOST_FOUND: Final = 100


class UnextractedMessages(Protocol):
    """sinks.archive.messages.Archive."""

    async def unextracted(self, conversation_id: str, completed_before: datetime) -> tuple[Message, ...]: ...


class ProfileReader(Protocol):
    """agents.profile.profile_reader.Profiles."""

    async def of(self, namespaces: Sequence[str], policy: Policy) -> Profile: ...


class Target(Struct, frozen=True):
    """The namespaces to search, the policy whose settings apply, and the known fields of the conversation."""

    namespaces: tuple[str, ...]
    policy: Policy
    scope: Scope


def require_namespaces(policy: Policy, scope: Scope) -> None:
    """Raises Rejected `invalid` if the scope fits no template of the policy: its namespace would be that of no conversation."""
    if any(render(template, scope) is not None for template in policy.namespaces):
        return
    absent = (name for name in scope.__struct_fields__ if getattr(scope, name) in (None, UNKNOWN))
    needed = [name for name in absent if any("{" + name + "}" in template for template in policy.namespaces)]
    missing = f": it lacks {', '.join(needed)}" if needed else ""
    raise Rejected(
        "invalid", f"the scope names no namespace{missing}. Complete it, or give `namespaces` or a `conversation_id`"
    )


class Recall:
    """Builds context blocks. `count_tokens` is the counter that windows use. `admission` limits the blocks that are built
    concurrently."""

    def __init__(
        self,
        retrieval: SearchService,
        archive: UnextractedMessages,
        policies: PolicySelector,
        count_tokens: TokenCount,
        clock: Callable[[], datetime],
        profiles: ProfileReader | None = None,
        admission: Admission | None = None,
    ) -> None:
        self._retrieval = retrieval
        self._archive = archive
        self._policies = policies
        self._count_tokens = count_tokens
        self._clock = clock
        self._profiles = profiles
        self._admission = admission

    def target(self, query: BlockQuery, conversation: Conversation | None) -> Target | None:
        """The target of a query; None if it names no namespaces, scope or known conversation. Raises Rejected `invalid` for a
        scope that names no namespace.

        A known conversation's own policy and scope come first, then the query's scope, then the fields in the first
        namespace's name. The user of the query's scope comes first always: a conversation may have several people.
        """
        if conversation is not None:
            policy, scope = conversation.policy, conversation.scope
            if query.scope is not None and query.scope.user_id is not None:
                scope = replace(scope, user_id=query.scope.user_id)
        elif query.scope is not None:
            scope = Scope(conversation_id=query.conversation_id or UNKNOWN, **asdict(query.scope))
            policy = self._policies.match(scope)
        elif query.namespaces:
            first = query.namespaces[0]
            scope = next(iter(self._policies.scopes_feeding(first)), Scope(conversation_id=UNKNOWN))
            policy = self._policies.governing(first)
        else:
            return None
        if not query.namespaces and scope.conversation_id == UNKNOWN:
            require_namespaces(policy, scope)
        return Target(query.namespaces or policy.namespaces_of(scope), policy, scope)

    async def block(self, query: BlockQuery, conversation: Conversation | None, may_read: MayRead = allow_all) -> Block:
        """The requested block. The caller has checked the rights to the target's namespaces and to `conversation` (None if
        none is given or known); `may_read` checks the owners of passages.

        Raises ValueError without a target, Retryable (also Overloaded), and Rejected `budget_too_small`.
        """
        target = self.target(query, conversation)
        if target is None:
            raise ValueError("neither namespaces nor a known conversation nor a scope are given")
        async with self._admission.place() if self._admission else nullcontext():
            return await self._block(query, target, conversation, may_read)

    async def _block(
        self, query: BlockQuery, target: Target, conversation: Conversation | None, may_read: MayRead
    ) -> Block:
        limits = limits_of(query, target.policy.block)
        found, tail, profile = await asyncio.gather(
            self._found(query, target.namespaces, limits, may_read),
            self._tail(query, conversation),
            self._profile(query, target),
        )
        style = BlockStyle.of(target.policy.block, target.namespaces[0], target.scope, query.cite)
        owner_id = None if conversation is None else conversation.scope.user_id
        style = replace(style, in_group=is_group(tail, owner_id, target.scope.user_id), now=self._clock())
        earlier = [hit for each in found.said for hit in without_prompt_messages(each, query)]
        in_prompt = profile if query.has_profile else None
        in_profile, hits = split_by_profile(in_prompt, found.hits)
        stated = profile_statements(in_prompt, in_profile)
        made = block(hits, tail, style, limits, self._count_tokens, known_by_sources(query), earlier, stated)
        if made.left_out is not None:
            left_out = (*profile_left_out(in_profile, style, self._count_tokens), *made.left_out)
            made = replace(made, left_out=left_out)
        return replace(
            made,
            namespaces=target.namespaces,
            policy=target.policy.name,
            degraded=found.degraded,
            conversation_known=conversation is not None,
            profile=unless_known(profile, query),
        )

    async def _found(self, query: BlockQuery, namespaces: tuple[str, ...], limits: Limits, may_read: MayRead) -> Found:
        """Searches each tier with its own limit, as the block divides the room between them later."""
        tier_query = Query(
            namespaces=namespaces, text=query.text, filters=query.filters, floor=query.floor, asked_at=query.asked_at
        )
        memories, passages = await asyncio.gather(
            self._tier(tier_query, "memories", limits.max_memories, may_read),
            self._tier(tier_query, "said", limits.max_said, may_read),
        )
        degraded = tuple(dict.fromkeys((*memories.degraded, *passages.degraded)))
        return Found(hits=memories.hits, said=passages.said, degraded=degraded)

    async def _tier(self, tier_query: Query, tier: Tier, most: int, may_read: MayRead) -> Found:
        if not most or (tier == "said" and not tier_query.asks_passages):
            return Found()
        one_tier = replace(tier_query, tier=tier, limit=min(most + EXTRA_HITS, MOST_FOUND))
        return await self._retrieval.search(one_tier, may_read)

    async def _profile(self, query: BlockQuery, target: Target) -> Profile | None:
        if self._profiles is None or query.profile is False:
            return None
        return await self._profiles.of(target.namespaces, target.policy)

    async def _tail(self, query: BlockQuery, conversation: Conversation | None) -> Sequence[Message]:
        """Recent messages that are not extracted yet. None if the policy does not extract: the conversation's own context
        has them."""
        if conversation is None or not query.tail or not conversation.policy.extract:
            return ()
        waiting = await self._archive.unextracted(conversation.conversation_id, self._clock() - ARCHIVE_GRACE)
        return [message for message in waiting if not query.knows(message.message_id, message.timestamp)]


def split_by_profile(profile: Profile | None, hits: Sequence[Hit]) -> tuple[list[Hit], list[Hit]]:
    """The hits in the prompt's profile, and the others."""
    known = frozenset[str]() if profile is None else profile.memory_ids
    of_profile = [hit for hit in hits if hit.memory.memory_id in known]
    return of_profile, [hit for hit in hits if hit.memory.memory_id not in known]


def profile_statements(profile: Profile | None, of_profile: Sequence[Hit]) -> list[Statement]:
    """What the prompt's profile says. The memories in it that the search found have sources, its lines have none."""
    lines = () if profile is None else profile.lines
    stated = (Statement(frozenset(stems(line.text)), frozenset()) for line in lines)
    return [*(Statement.of(hit.memory) for hit in of_profile), *stated]


def unless_known(profile: Profile | None, query: BlockQuery) -> Profile | None:
    """The profile; without text and lines if the caller has this version."""
    if profile is None or profile.version != query.profile_version:
        return profile
    return replace(profile, text="", lines=(), unchanged=True)


def limits_of(query: BlockQuery, settings: BlockSettings) -> Limits:
    return Limits(
        max_tokens=settings.max_tokens if query.max_tokens is None else query.max_tokens,
        max_memories=settings.max_memories if query.max_memories is None else query.max_memories,
        tail_share=settings.tail_share,
        max_said=settings.max_said if query.max_said is None else query.max_said,
        said_share=settings.said_share,
        order=query.order or settings.order,
        explain=query.explain,
    )


def without_prompt_messages(hit: SaidHit, query: BlockQuery) -> list[SaidHit]:
    """The hit without messages that the prompt has."""
    return without_shown(hit, lambda said: in_prompt(said, query))


def in_prompt(message: Passage, query: BlockQuery) -> bool:
    return message.conversation_id == query.conversation_id and query.knows(message.message_id, message.said_at)


def known_by_sources(query: BlockQuery) -> IsKnown:
    """A memory adds nothing to the messages if all its sources are among them and its text was not edited or merged since."""

    def is_known(memory: Memory, whole: frozenset[str]) -> bool:
        reworded = memory.version - 1 > memory.reinforcement_count
        return (
            bool(memory.sources)
            and not (reworded or memory.pinned)
            and all(
                source.conversation_id == query.conversation_id
                and (source.message_id in whole or query.knows(source.message_id, source.timestamp))
                for source in memory.sources
            )
        )

    return is_known
