"""Windows in memory, under the same guards, and states to fill them with."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from schemas.codec import decode, encode
from schemas.messages import Scope
from schemas.windows import Pruning, Run, Statistics, WindowState
from sinks.postgres import storable, storable_json
from sinks.windows import LATEST_PRUNINGS, gives_way, latest

AT_S = 1_772_366_400.25  # noon on 1 March 2026, and a quarter of a second


def a_pruning(number: int = 1, at: float | None = None) -> Pruning:
    """Each a minute after the one before."""
    at = AT_S + 60 * number if at is None else at
    return Pruning(number, at, "usage", "warning", 900, 600, (Run("oldest", 1, 8, 8), Run("completed_task", 9, 12, 4)))


def a_state(conversation_id: str = "c", revision: int = 1, source: str = "changelog", **fields: Any) -> WindowState:
    """An open window's; its total of tokens is its revision."""
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
    """`failures` are raised by the next calls, one each, before anything is kept."""

    def __init__(self) -> None:
        self.states: dict[str, WindowState] = {}
        self.failures: deque[Exception] = deque()
        self._prunings: defaultdict[str, dict[tuple[float, int], Pruning]] = defaultdict(dict)

    async def _reach(self) -> None:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.popleft()

    async def project(self, states: Sequence[WindowState]) -> None:
        await self._reach()
        stored = [decode(storable_json(encode(state)), WindowState) for state in states]
        for state in latest(stored):
            key = state.scope.conversation_id
            if key not in self.states or gives_way(self.states[key], state.source, state.revision):
                self.states[key] = replace(state, prunings=())
        for state in stored:
            for pruning in state.prunings:
                self._prunings[state.scope.conversation_id].setdefault((pruning.at, pruning.number), pruning)

    async def forget(self, conversation_ids: Collection[str], source: str, revision: int, at: datetime) -> None:
        await self._reach()
        for key in map(storable, conversation_ids):
            if key in self.states and gives_way(self.states[key], storable(source), revision):
                told = {"phase": "forgotten", "source": storable(source), "revision": revision}
                self.states[key] = replace(self.states[key], **told)

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None:
        await self._reach()
        for key, state in self.states.items():
            there = (state.source, state.partition) == (storable(source), partition)
            if there and state.revision < revision and state.phase != "forgotten":
                self.states[key] = replace(state, phase="forgotten", revision=revision)

    async def of(self, conversation_id: str) -> WindowState | None:
        prunings = await self.prunings(conversation_id, LATEST_PRUNINGS)
        state = self.states.get(storable(conversation_id))
        return replace(state, prunings=prunings[::-1]) if state else None

    async def prunings(self, conversation_id: str, limit: int = 100) -> tuple[Pruning, ...]:
        await self._reach()
        by_key = self._prunings[storable(conversation_id)]
        return tuple(by_key[key] for key in sorted(by_key, reverse=True)[:limit])
