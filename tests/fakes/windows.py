"""Projected windows in memory with the guards of the table, and builders of states."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from msgspec import structs
from msgspec.structs import replace

from schemas.codec import decode, encode, without_nul
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.conversations.windows import (
    Pruning,
    Run,
    Statistics,
    WindowAddress,
    WindowPlace,
    WindowState,
    WindowSummary,
)
from schemas.erasure.erasures import belongs_to
from sinks.postgres.connection import storable
from sinks.windows.projection import LATEST_PRUNINGS, PruningPlace, is_outdated, latest

Key: TypeAlias = tuple[str, int]  # conversation_id, partition

AT_S = 1_772_366_400.25  # 2026-03-01 12:00:00.25 UTC


def a_pruning(number: int = 1, at: float | None = None) -> Pruning:
    """A pruning; each is a minute after the previous one."""
    at = AT_S + 60 * number if at is None else at
    return Pruning(number, at, "usage", "warning", 900, 600, (Run("oldest", 1, 8, 8), Run("completed_task", 9, 12, 4)))


def a_state(conversation_id: str = "c", revision: int = 1, source: str = "changelog", **fields: Any) -> WindowState:
    """The state of an open window; its total of tokens is its revision."""
    statistics = Statistics(
        total_messages=20,
        messages_in_context=8,
        pruned_messages=12,
        total_tokens=revision,
        tokens_by_role={"user": 300, "assistant": 600},
        pruned_tokens=300,
        token_limit=1_000,
        context_tokens=600,
        percent_used=60.1,
        level="ok",
        oldest_message_at=AT_S,
        last_prune=None,
        strategy="hybrid",
        explanation="The oldest messages leave first.",
    )
    defaults: dict[str, Any] = {
        "scope": Scope(conversation_id=conversation_id, app_id="app", user_id="user"),
        "partition": 3,
        "policy": "default",
        "phase": "open",
        "statistics": statistics,
    }
    return WindowState(revision=revision, source=source, **(defaults | fields))


class FakeWindows:
    """`failures` are raised by the next calls, one each, before anything is stored."""

    def __init__(self) -> None:
        self.states: dict[Key, WindowState] = {}
        self.failures: deque[Exception] = deque()
        self.said: dict[str, set[str]] = {}  # users by conversation, as in the archive
        self._updated_at: dict[Key, datetime] = {}
        self._prunings: defaultdict[Key, dict[tuple[float, int], Pruning]] = defaultdict(dict)

    async def _raise_failure(self) -> None:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.popleft()

    def _keep(self, state: WindowState, at: datetime) -> None:
        self.states[key_of(state)] = replace(state, prunings=())
        self._updated_at[key_of(state)] = at

    async def scopes(self, limit: int) -> tuple[Scope, ...]:
        await self._raise_failure()
        return tuple(state.scope for state in self.states.values() if state.phase != "forgotten")[:limit]

    async def latest(self, limit: int, after: WindowPlace | None = None) -> tuple[WindowSummary, ...]:
        await self._raise_failure()
        return self._listed({key[0] for key in self.states}, limit, after)

    async def latest_among(
        self, users: Collection[str], conversations: Collection[str], limit: int, after: WindowPlace | None = None
    ) -> tuple[WindowSummary, ...]:
        """`said` has further speakers, besides the windows' own users."""
        await self._raise_failure()
        of_users = {state.scope.conversation_id for state in self.states.values() if state.scope.user_id in users}
        of_others = {conversation for conversation, said in self.said.items() if said & set(users)}
        return self._listed(of_users | of_others | set(conversations), limit, after)

    def _listed(
        self, conversations: Collection[str], limit: int, after: WindowPlace | None
    ) -> tuple[WindowSummary, ...]:
        counting = filter(None, map(self._counting, conversations))
        every = sorted(map(self._summary, counting), key=lambda each: each.place, reverse=True)
        return tuple(each for each in every if after is None or each.place < after)[:limit]

    def _summary(self, state: WindowState) -> WindowSummary:
        told_at = self._updated_at[key_of(state)].timestamp()
        at = told_at if state.last_message_at is None else state.last_message_at
        return WindowSummary(scope=state.scope, phase=state.phase, statistics=state.statistics, active_at=at)

    async def places_of(self, user: User, limit: int) -> tuple[WindowAddress, ...]:
        await self._raise_failure()
        of = (state for state in self.states.values() if belongs_to(state.scope, *structs.astuple(user)))
        kept = sorted((state for state in of if state.phase != "forgotten"), key=self._last_update, reverse=True)
        return tuple(WindowAddress(state.scope.conversation_id, state.partition) for state in kept)[:limit]

    def _last_update(self, state: WindowState) -> datetime:
        return self._updated_at[key_of(state)]

    async def project(self, states: Sequence[WindowState]) -> tuple[str, ...]:
        await self._raise_failure()
        stored = [decode(without_nul(encode(state)), WindowState) for state in states]
        active = [key for key, known in self.states.items() if known.phase != "forgotten"]
        split = []
        for state in latest(stored):
            known = self.states.get(key_of(state))
            if known is None or is_outdated(known, state.source, state.revision):
                self._keep(state, datetime.now(UTC))
                name, partition = key_of(state)
                split += [name] * any(other[0] == name and other[1] != partition for other in active)
        for state in stored:
            for pruning in state.prunings:
                known_to_be = self._prunings[key_of(state)].get((pruning.at, pruning.number))
                if known_to_be is None or known_to_be.undone_at is None:
                    undone_at = pruning.undone_at
                    self._prunings[key_of(state)][pruning.at, pruning.number] = (
                        replace(known_to_be, undone_at=undone_at) if known_to_be else pruning
                    )
        return tuple(split)

    async def forget(
        self, conversation_ids: Collection[str], partition: int, source: str, revision: int, at: datetime
    ) -> None:
        await self._raise_failure()
        for conversation_id in map(storable, conversation_ids):
            known = self.states.get((conversation_id, partition))
            if known is not None and is_outdated(known, storable(source), revision):
                self._keep(replace(known, phase="forgotten", source=storable(source), revision=revision), at)

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None:
        await self._raise_failure()
        for known in list(self.states.values()):
            older = known.source != storable(source) or known.revision < revision
            if known.partition == partition and older and known.phase != "forgotten":
                self._keep(replace(known, phase="forgotten", source=storable(source), revision=revision), at)

    async def of(self, conversation_id: str) -> WindowState | None:
        await self._raise_failure()
        state = self._counting(conversation_id)
        return replace(state, prunings=self._newest(state)[:LATEST_PRUNINGS][::-1]) if state else None

    async def prunings(
        self, conversation_id: str, limit: int = 100, before: PruningPlace | None = None
    ) -> tuple[Pruning, ...]:
        await self._raise_failure()
        state = self._counting(conversation_id)
        every = self._newest(state) if state else ()
        return tuple(each for each in every if before is None or (each.at, each.number) < before)[:limit]

    def _counting(self, conversation_id: str) -> WindowState | None:
        """The window that counts among several of the conversation."""
        known = [state for key, state in self.states.items() if key[0] == storable(conversation_id)]
        return max(known, key=self._rank, default=None)

    def _rank(self, state: WindowState) -> tuple[bool, bool, datetime, int]:
        told_at = self._updated_at[key_of(state)]
        return (state.statistics.total_messages > 0, state.phase != "forgotten", told_at, state.partition)

    def _newest(self, state: WindowState) -> tuple[Pruning, ...]:
        """All prunings of the window, newest first."""
        by_time = self._prunings[key_of(state)]
        return tuple(by_time[key] for key in sorted(by_time, reverse=True))


def key_of(state: WindowState) -> Key:
    return (state.scope.conversation_id, state.partition)
