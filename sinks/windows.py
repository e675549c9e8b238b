"""What others may know of conversation windows, projected after each checkpoint: the API and the panel read this."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from schemas.codec import shaped
from schemas.windows import Pruning, WindowState
from sinks.postgres import Pool, storable, translated
from sinks.queries import query

LATEST_PRUNINGS: Final = 20  # that a state tells of


class Windows:
    """The `windows` and `window_prunings` tables. Times are kept to the microsecond."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def project(self, states: Sequence[WindowState]) -> None:
        """Stores the states and their prunings in one transaction; of several of one conversation, the latest.

        A row gives way to a state of another source, and to one of its own source that is no older than itself: a late
        owner overwrites nothing, and repeating a call changes nothing but `updated_at`. Prunings are added whatever
        becomes of the state. Raises Retryable.
        """
        if not states:
            return
        windows = [replace(state, prunings=()) for state in latest(states)]
        prunings = [row(state, pruning) for state in states for pruning in state.prunings]
        with translated("projecting windows"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("windows", "project"), windows)
                if prunings:
                    await connection.execute(query("windows", "add_prunings"), *zip(*prunings, strict=True))

    async def forget(self, conversation_ids: Collection[str], source: str, revision: int, at: datetime) -> None:
        """Marks the rows of windows that left the table as `forgotten`, under the guard of `project`.

        A conversation without a row gets none, and a later state makes the window open again. Raises Retryable.
        """
        if not conversation_ids:
            return
        with translated("forgetting windows"):
            ids = [storable(conversation_id) for conversation_id in conversation_ids]
            await self._pool.execute(query("windows", "forget"), ids, source, revision, at)

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None:
        """Marks as `forgotten` what was last told of before `revision`: once all windows of a partition have been told of
        since, those are gone. Raises Retryable."""
        with translated("forgetting windows"):
            await self._pool.execute(query("windows", "forget_older"), storable(source), partition, revision, at)

    async def of(self, conversation_id: str) -> WindowState | None:
        """What is known of the conversation's window, with its latest 20 prunings, oldest first. Raises Retryable."""
        with translated("reading a window"):
            found = await self._pool.fetchrow(query("windows", "of"), conversation_id, LATEST_PRUNINGS)
        return state_of(dict(found)) if found else None

    async def prunings(self, conversation_id: str, limit: int = 100) -> tuple[Pruning, ...]:
        """What left the conversation's context and why, newest first. Raises Retryable."""
        with translated("reading prunings"):
            found = await self._pool.fetch(query("windows", "prunings"), conversation_id, limit)
        return tuple(shaped(each["pruning"], Pruning) for each in found)


def latest(states: Iterable[WindowState]) -> list[WindowState]:
    """One state a conversation: the one of the highest revision; the last one where the sources differ."""
    kept: dict[str, WindowState] = {}
    for state in states:
        # By the key as it is stored: two rows of one key would be refused together with all others.
        key = storable(state.scope.conversation_id)
        if key not in kept or gives_way(kept[key], state.source, state.revision):
            kept[key] = state
    return list(kept.values())


def gives_way(kept: WindowState, source: str, revision: int) -> bool:
    """The guard of the SQL, for states in memory."""
    return kept.source != source or kept.revision <= revision


def row(state: WindowState, pruning: Pruning) -> tuple[Any, ...]:
    """The columns in the statement's order."""
    return (
        *(storable(state.scope.conversation_id), pruning.at, pruning.number, pruning.cause, pruning.level),
        *(pruning.tokens_before, pruning.tokens_after, pruning.removed),
    )


def state_of(columns: dict[str, Any]) -> WindowState:
    return shaped(columns | {"scope": columns, "prunings": columns["prunings"][::-1]}, WindowState)
