"""Finds a conversation: its window, its namespaces and its messages."""

import asyncio
from collections.abc import Callable, Collection
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.conversations.owners import may_read_all, namespaces_of, scope_of
from schemas.conversations.messages import Scope
from schemas.conversations.window_choices import WindowChoices
from schemas.conversations.windows import Pruning, WindowState
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.messages import ArchivedMessage, Place
from sinks.windows.projection import PruningPlace
from streams.windows.context.gaps import summarised

LOOK_S: Final = 0.1


class Conversation(Struct, frozen=True):
    """`state` is None until the window is projected; `namespaces` are all that it feeds under the current policies."""

    scope: Scope
    namespaces: tuple[str, ...]
    policy: Policy
    state: WindowState | None = None

    @property
    def conversation_id(self) -> str:
        return self.scope.conversation_id

    @property
    def choices(self) -> WindowChoices:
        """The settings chosen for its context, as far as the projection has them."""
        return WindowChoices() if self.state is None else self.state.adjustments.choices


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
    """The state without the markers' summaries, which may contain erased words."""
    return replace(state, gaps=tuple(summarised(gap, "", 0) for gap in state.gaps))


class Conversations:
    """Finds conversations. Every method raises Retryable."""

    def __init__(self, states: WindowStates, archive: ArchivedMessages, policies: PolicySelector) -> None:
        self._states = states
        self._archive = archive
        self._policies = policies

    async def find(
        self, conversation_id: str, allowed: Callable[[str], bool], *, with_empty: bool = False
    ) -> Conversation | None:
        """The conversation, for a caller who is `allowed` in namespaces.

        Returns None if the caller may not read one of its namespaces, as for an unknown conversation; unless `with_empty`, also
        for one that has no message, because all of them were erased.
        """
        state, said = await asyncio.gather(self._states.of(conversation_id), self._archive.scopes(conversation_id))
        has_messages = bool(said) or (state is not None and state.statistics.total_messages > 0)
        if not (has_messages or (with_empty and state is not None)):
            return None
        scope = scope_of(conversation_id, state.scope if state else None, said)
        namespaces = namespaces_of(scope, said, self._policies)
        if not may_read_all(allowed, namespaces):
            return None
        if state is not None and any(gap.summary for gap in state.gaps) and await self._archive.erased(namespaces):
            state = without_summaries(state)
        return Conversation(scope, namespaces, self._policies.match(scope), state)

    async def find_with_window(
        self, conversation_id: str, allowed: Callable[[str], bool], wait_s: float
    ) -> Conversation | None:
        """As `find`, but waits up to `wait_s` seconds for the window: the archive may have a conversation before its window is
        projected."""
        found = await self.find(conversation_id, allowed)
        for _ in range(round(wait_s / LOOK_S)):
            if found is None or found.state is not None:
                break
            await asyncio.sleep(LOOK_S)
            found = await self.find(conversation_id, allowed)
        return found

    async def messages(
        self, conversation: Conversation, *, beyond: Place | None, limit: int, backwards: bool
    ) -> tuple[ArchivedMessage, ...]:
        """Its messages in the order of partition and position, from behind a place, or backwards before it."""
        name = conversation.conversation_id
        return await self._archive.page(name, beyond=beyond, limit=limit, backwards=backwards)

    async def message(self, conversation: Conversation, message_id: str) -> ArchivedMessage | None:
        """Its message with that id; None if there is none."""
        return await self._archive.message(conversation.conversation_id, message_id)

    async def prunings(
        self, conversation: Conversation, limit: int, before: PruningPlace | None
    ) -> tuple[Pruning, ...]:
        """Its prunings with their reasons, newest first, before `before`."""
        return await self._states.prunings(conversation.conversation_id, limit, before)
