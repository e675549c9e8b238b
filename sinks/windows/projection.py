"""The projection of conversation windows, written after each checkpoint; the API and the panel read it."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from schemas.codec import convert
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.conversations.windows import Pruning, WindowAddress, WindowPlace, WindowState, WindowSummary
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

LATEST_PRUNINGS: Final = 20  # prunings in a state

PruningPlace: TypeAlias = tuple[float, int]  # Unix seconds and number: the sort key of prunings


class SplitConversations(Struct, frozen=True):
    """The number of `conversations` with windows in several partitions, and one of them with its partitions."""

    conversation_id: str
    partitions: Sequence[int]
    conversations: int


class Windows:
    """The `windows` and `window_prunings` tables. Times have microseconds.

    A conversation with events in two partitions has a window, and a row, in each: revisions are offsets, which do not
    compare across partitions.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def project(self, states: Sequence[WindowState]) -> tuple[str, ...]:
        """Stores states and their prunings in one transaction; of several states of one row, the latest. Returns the
        conversations that had an active window in another partition, too, before the call.

        A row is replaced by a state of another source, or by one of its own source with the same or a higher revision: a
        late owner overwrites nothing, and a repeated call changes only `updated_at`. Prunings are always added, and marked
        if they were undone. Raises Retryable.
        """
        if not states:
            return ()
        windows = [replace(state, prunings=()) for state in latest(states)]
        prunings = [row(state, pruning) for state in states for pruning in state.prunings]
        with translated("projecting windows"):
            async with self._pool.acquire() as connection, connection.transaction():
                split = await connection.fetch(query("windows", "project"), windows)
                if prunings:
                    await connection.execute(query("windows", "add_prunings"), *zip(*prunings, strict=True))
        return tuple(row["conversation_id"] for row in split)

    async def forget(
        self, conversation_ids: Collection[str], partition: int, source: str, revision: int, at: datetime
    ) -> None:
        """Marks rows of windows that left the partition's table as `forgotten`, under the same guard as `project`.

        A window without a row gets none, and a later state opens it again. Raises Retryable.
        """
        if not conversation_ids:
            return
        with translated("marking windows as forgotten"):
            ids = [storable(conversation_id) for conversation_id in conversation_ids]
            await self._pool.execute(query("windows", "forget"), ids, partition, source, revision, at)

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None:
        """Marks rows with a revision below `revision`, or of another source, as `forgotten`: call it once all windows of a
        partition are projected. Raises Retryable."""
        with translated("marking windows as forgotten"):
            await self._pool.execute(query("windows", "forget_older"), storable(source), partition, revision, at)

    async def of(self, conversation_id: str) -> WindowState | None:
        """The conversation's window, with its latest 20 prunings, oldest first; None if there is none. Raises Retryable.

        Of several windows, the latest projected one that is active and has messages; a forgotten or empty one only if there
        is no other.
        """
        found = await self._read(conversation_id, LATEST_PRUNINGS)
        return state_of(found) if found else None

    async def scopes(self, limit: int) -> tuple[Scope, ...]:
        """Scopes of active windows, latest projected first. Raises Retryable."""
        with translated("reading scopes of windows"):
            rows = await self._pool.fetch(query("windows", "scopes"), limit)
        return tuple(convert(dict(row), Scope) for row in rows)

    async def latest(self, limit: int, after: WindowPlace | None = None) -> tuple[WindowSummary, ...]:
        """One window per conversation, the latest message first, behind a place.

        Raises Retryable.
        """
        with translated("listing conversations"):
            rows = await self._pool.fetch(query("windows", "latest"), *(after or (None, None)), limit)
        return tuple(map(summary_of, rows))

    async def latest_among(
        self, users: Collection[str], conversations: Collection[str], limit: int, after: WindowPlace | None = None
    ) -> tuple[WindowSummary, ...]:
        """As `latest`, for these conversations and those in which one of these users spoke. Raises Retryable."""
        named = [storable(each) for each in users], [storable(each) for each in conversations]
        with translated("listing conversations"):
            rows = await self._pool.fetch(query("windows", "latest_among"), *(after or (None, None)), limit, *named)
        return tuple(map(summary_of, rows))

    async def places_of(self, user: User, limit: int) -> tuple[WindowAddress, ...]:
        """Addresses of the active windows of a user's conversations, latest first. Raises Retryable."""
        with translated("finding windows of a user"):
            user_key = (user.user_id, user.tenant_id, user.app_id)
            rows = await self._pool.fetch(query("windows", "places_of"), *user_key, limit)
        return tuple(WindowAddress(row["conversation_id"], row["partition"]) for row in rows)

    async def split(self) -> SplitConversations | None:
        """The conversations with active windows in several partitions; None if there are none. Raises Retryable."""
        with translated("finding windows in several partitions"):
            row = await self._pool.fetchrow(query("windows", "split"))
        return SplitConversations(**row) if row else None

    async def prunings(
        self, conversation_id: str, limit: int = 100, before: PruningPlace | None = None
    ) -> tuple[Pruning, ...]:
        """Prunings of the window that `of` returns, newest first, before `before`.

        Raises Retryable.
        """
        found = await self._read(conversation_id, limit, before)
        return tuple(convert(each, Pruning) for each in found["prunings"]) if found else ()

    async def _read(
        self, conversation_id: str, prunings: int, before: PruningPlace | None = None
    ) -> dict[str, Any] | None:
        """The columns of the window that `of` selects, with at most `prunings` of its prunings, newest first."""
        place = before or (None, None)
        with translated("reading a window"):
            found = await self._pool.fetchrow(query("windows", "of"), conversation_id, prunings, *place)
        return dict(found) if found else None


def latest(states: Iterable[WindowState]) -> list[WindowState]:
    """One state per row: the one with the highest revision; the last one where sources differ."""
    kept: dict[tuple[str, int], WindowState] = {}
    for state in states:
        # By the stored form of the key: the statement fails if two rows have the same key.
        key = (storable(state.scope.conversation_id), state.partition)
        if key not in kept or is_outdated(kept[key], state.source, state.revision):
            kept[key] = state
    return list(kept.values())


def is_outdated(kept: WindowState, source: str, revision: int) -> bool:
    """The guard of the SQL statement, for states of one row in memory."""
    return kept.source != source or kept.revision <= revision


def row(state: WindowState, pruning: Pruning) -> tuple[Any, ...]:
    """The column values in the order of the statement."""
    return (
        *(storable(state.scope.conversation_id), state.partition, pruning.at, pruning.number),
        *(pruning.cause, pruning.level, pruning.tokens_before, pruning.tokens_after, pruning.removed),
        pruning.undone_at,
    )


def state_of(columns: dict[str, Any]) -> WindowState:
    return convert(columns | {"scope": columns, "prunings": columns["prunings"][::-1]}, WindowState)


def summary_of(row: Any) -> WindowSummary:
    columns = dict(row)
    return convert(columns | {"scope": columns}, WindowSummary)
