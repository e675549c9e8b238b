"""Finds a conversation: its window, its namespaces and its messages."""

import asyncio
from collections.abc import Callable, Collection
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.conversations.owners import may, namespaces_of, scope_of
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Pruning, WindowState
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.messages import ArchivedMessage, Place
from sinks.windows.projection import PruningPlace
from streams.windows.context.gaps import summarised


class Conversation(Struct, frozen=True):
    """`state` is None until its window's row is there; `namespaces` are all that it feeds, under the policies as they are now."""

    scope: Scope
    namespaces: tuple[str, ...]
    policy: Policy
    state: WindowState | None = None

    @property
    def conversation_id(self) -> str:
        return self.scope.conversation_id


class WindowStates(Protocol):
    """sinks.windows.projection.Windows."""

    async def of(self, conversation_id: str) -> WindowState | None: ...

    async def prunings(self, conversation_id: str, limit: int, before: PruningPlace | None) -> tuple[Pruning, ...]: ...


class ArchivedMessages(Protocol):
    """sinks.archive.messages.Archive."""

    async def scopes(self, conversation_id: str) -> tuple[Scope, ...]: ...

    async def erased(self, namespaces: Collection[str]) -> bool: ...

    async def message(self, conversation_id: str, message_id: str) -> ArchivedMessage | None: ...

    async def page(
        self, conversation_id: str, *, beyond: Place | None, limit: int, backwards: bool = False
    ) -> tuple[ArchivedMessage, ...]: ...


def without_summaries(state: WindowState) -> WindowState:
    """Without the summaries in its markers: nobody can tell whether they are of what was erased."""
    return replace(state, gaps=tuple(summarised(gap, "", 0) for gap in state.gaps))


class Conversations:
    """All that are known. Every method raises Retryable."""

    def __init__(self, states: WindowStates, archive: ArchivedMessages, policies: PolicySelector) -> None:
        self._states = states
        self._archive = archive
        self._policies = policies

    async def find(self, conversation_id: str, allowed: Callable[[str], bool]) -> Conversation | None:
        """The conversation, for one who is `allowed` in namespaces.

        One that feeds a namespace in which the caller is not allowed is no different from none.
        """
        state, said = await asyncio.gather(self._states.of(conversation_id), self._archive.scopes(conversation_id))
        if state is None and not said:
            return None
        scope = scope_of(conversation_id, state.scope if state else None, said)
        namespaces = namespaces_of(scope, said, self._policies)
        if not may(allowed, namespaces):
            return None
        if state is not None and any(gap.summary for gap in state.gaps) and await self._archive.erased(namespaces):
            state = without_summaries(state)
        return Conversation(scope, namespaces, self._policies.match(scope), state)

    async def messages(
        self, conversation: Conversation, *, beyond: Place | None, limit: int, backwards: bool
    ) -> tuple[ArchivedMessage, ...]:
        """What was said in it, by partition and position from behind a place on, or from before it backwards."""
        name = conversation.conversation_id
        return await self._archive.page(name, beyond=beyond, limit=limit, backwards=backwards)

    async def message(self, conversation: Conversation, message_id: str) -> ArchivedMessage | None:
        """The message of that id, if it was said in the conversation."""
        return await self._archive.message(conversation.conversation_id, message_id)

    async def prunings(
        self, conversation: Conversation, limit: int, before: PruningPlace | None
    ) -> tuple[Pruning, ...]:
        """What left its context, and why, newest first, from `before` a place on."""
        return await self._states.prunings(conversation.conversation_id, limit, before)
