"""What others may know of conversation windows, projected after each checkpoint: the API and the panel read this."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from schemas.codec import convert
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Pruning, WindowState
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

LATEST_PRUNINGS: Final = 20  # that a state tells of

PruningPlace: TypeAlias = tuple[float, int]  # Unix seconds, and the number: in the order of prunings


class Windows:
    """The `windows` and `window_prunings` tables. Times are kept to the microsecond.

    A conversation whose events came to two partitions has a window, and a row, in each: revisions are offsets, and those
    of two partitions do not compare.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def project(self, states: Sequence[WindowState]) -> None:
        """Stores the states and their prunings in one transaction; of several of one row, the latest.

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

    async def forget(
        self, conversation_ids: Collection[str], partition: int, source: str, revision: int, at: datetime
    ) -> None:
        """Marks the rows of windows that left the partition's table as `forgotten`, under the guard of `project`.

        A window without a row gets none, and a later state makes it open again. Raises Retryable.
        """
        if not conversation_ids:
            return
        with translated("forgetting windows"):
            ids = [storable(conversation_id) for conversation_id in conversation_ids]
            await self._pool.execute(query("windows", "forget"), ids, partition, source, revision, at)

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None:
        """Marks as `forgotten` what was last told of before `revision`, or of another source: once all windows of a
        partition have been told of since, those are gone. Raises Retryable."""
        with translated("forgetting windows"):
            await self._pool.execute(query("windows", "forget_older"), storable(source), partition, revision, at)

    async def of(self, conversation_id: str) -> WindowState | None:
        """What is known of the conversation's window, with its latest 20 prunings, oldest first. Raises Retryable.

        Of several windows, the one with messages that is not forgotten and was told of last; one that is forgotten, or
        without messages, only where there is no other.
        """
        found = await self._read(conversation_id, LATEST_PRUNINGS)
        return state_of(found) if found else None

    async def scopes(self, limit: int) -> tuple[Scope, ...]:
        """Of the windows that are not forgotten and were told of last. Raises Retryable."""
        with translated("reading whose windows there are"):
            rows = await self._pool.fetch(query("windows", "scopes"), limit)
        return tuple(convert(dict(row), Scope) for row in rows)

    async def prunings(
        self, conversation_id: str, limit: int = 100, before: PruningPlace | None = None
    ) -> tuple[Pruning, ...]:
        """What left the context of the window that `of` tells of, and why, newest first, from `before` a place on.
        Raises Retryable."""
        found = await self._read(conversation_id, limit, before)
        return tuple(convert(each, Pruning) for each in found["prunings"]) if found else ()

    async def _read(
        self, conversation_id: str, prunings: int, before: PruningPlace | None = None
    ) -> dict[str, Any] | None:
        """The columns of the window that counts, with at most so many of its prunings, newest first."""
        place = before or (None, None)
        with translated("reading a window"):
            found = await self._pool.fetchrow(query("windows", "of"), conversation_id, prunings, *place)
        return dict(found) if found else None


def latest(states: Iterable[WindowState]) -> list[WindowState]:
    """One state a row: the one of the highest revision; the last one where the sources differ."""
    kept: dict[tuple[str, int], WindowState] = {}
    for state in states:
        # By the key as it is stored: two rows of one key would be refused together with all others.
        key = (storable(state.scope.conversation_id), state.partition)
        if key not in kept or is_outdated(kept[key], state.source, state.revision):
            kept[key] = state
    return list(kept.values())


def is_outdated(kept: WindowState, source: str, revision: int) -> bool:
    """The guard of the SQL, for states of one row in memory."""
    return kept.source != source or kept.revision <= revision


def row(state: WindowState, pruning: Pruning) -> tuple[Any, ...]:
    """The columns in the statement's order."""
    return (
        *(storable(state.scope.conversation_id), state.partition, pruning.at, pruning.number),
        *(pruning.cause, pruning.level, pruning.tokens_before, pruning.tokens_after, pruning.removed),
    )


def state_of(columns: dict[str, Any]) -> WindowState:
    return convert(columns | {"scope": columns, "prunings": columns["prunings"][::-1]}, WindowState)
