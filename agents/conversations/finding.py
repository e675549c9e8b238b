"""Finding a conversation: what is known of its window, and whose it is."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from agents.conversations.owners import may, namespaces_of, scope_of
from schemas.messages import Scope
from schemas.policies import Choosing, Policy
from schemas.windows import WindowState


class Conversation(Struct, frozen=True):
    """`state` is None until its window's row is there; `namespaces` are all that it feeds, under the policies as they are now."""

    scope: Scope
    namespaces: tuple[str, ...]
    policy: Policy
    state: WindowState | None = None

    @property
    def conversation_id(self) -> str:
        return self.scope.conversation_id


class States(Protocol):
    """sinks.windows.Windows."""

    async def of(self, conversation_id: str) -> WindowState | None: ...


class Scopes(Protocol):
    """sinks.archive.Archive."""

    async def scopes(self, conversation_id: str) -> tuple[Scope, ...]: ...


class Conversations:
    """All that are known."""

    def __init__(self, states: States, archive: Scopes, policies: Choosing) -> None:
        self._states = states
        self._archive = archive
        self._policies = policies

    async def find(self, conversation_id: str, allowed: Callable[[str], bool]) -> Conversation | None:
        """The conversation, for one who is `allowed` in namespaces. Raises Retryable.

        One that feeds a namespace in which the caller is not allowed is no different from none.
        """
        state, said = await asyncio.gather(self._states.of(conversation_id), self._archive.scopes(conversation_id))
        if state is None and not said:
            return None
        scope = scope_of(conversation_id, state.scope if state else None, said)
        namespaces = namespaces_of(scope, said, self._policies)
        return Conversation(scope, namespaces, self._policies.match(scope), state) if may(allowed, namespaces) else None
