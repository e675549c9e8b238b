"""Consolidation runs as the scheduler sees them: due times, conversations of each run, and progress."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from schemas.budgets.budgets import Lane
from schemas.codec import convert
from schemas.consolidation.runs import ConsolidationRun, Scheduled
from schemas.conversations.messages import Scope
from schemas.policies.triggers import Schedule
from sinks.consolidation import runs
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query

MOST: Final = 2**31 - 1


class Window(NamedTuple):
    """A window: the scope of its conversation and its partition."""

    scope: Scope
    partition: int


class ConversationToExtract(NamedTuple):
    """A conversation whose window must be asked to extract its waiting messages."""

    conversation_id: str
    partition: int
    lane: Lane


Place = tuple[str, str, int]  # run_id, conversation_id
BEGINNING: Final[Place] = ("", "", -1)


class RunProgress:
    """Reads and writes within the transaction of the leading scheduler."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def schedules(self) -> dict[str, Scheduled]:
        """The stored schedules and their next due times, by policy."""
        rows = await self._connection.fetch(query("runs", "schedules"))
        return {row["policy"]: convert(dict(row), Scheduled) for row in rows}

    async def set_schedule(self, policy: str, schedule: Schedule, next_due: datetime) -> None:
        await self._connection.execute(query("runs", "set_schedule"), policy, schedule, next_due)

    async def keep_schedules(self, policies: Collection[str]) -> None:
        """Deletes the schedules of all other policies."""
        await self._connection.execute(query("runs", "drop_schedules"), list(map(storable, policies)))

    async def add(self, run: ConsolidationRun) -> bool:
        """Stores a run; False if its id is known."""
        return await runs.add(self._connection, run)

    async def pending(self, limit: int) -> tuple[ConsolidationRun, ...]:
        """Runs that have not begun: scheduled ones before manual ones, oldest first."""
        return runs.runs_of(await self._connection.fetch(query("runs", "pending"), limit))

    async def is_pending(self, run_id: str) -> bool:
        """Whether the run still has not begun."""
        row = await self._connection.fetchrow(query("runs", "of"), run_id)
        return row is not None and row["status"] == "pending"

    async def windows(self, conversation_id: str | None, behind: Window | None, limit: int) -> list[Window]:
        """A page of active windows: of one conversation, or of all."""
        place = (behind.scope.conversation_id, behind.partition) if behind else ("", -1)
        rows = await self._connection.fetch(query("runs", "windows"), conversation_id, *place, limit)
        return [window_of(dict(row)) for row in rows]

    async def speakers(self, windows: Sequence[Window]) -> dict[str, list[str]]:
        """The users who speak in each conversation, from the archive."""
        names = sorted({storable(window.scope.conversation_id) for window in windows})
        rows = await self._connection.fetch(query("runs", "speakers"), names)
        return {row["conversation_id"]: row["user_ids"] for row in rows}

    async def add_conversations(self, run: ConsolidationRun, windows: Sequence[Window], most: int | None = None) -> int:
        """Adds the conversations of these windows with waiting messages to a run, at most `most`; returns how many."""
        names = [storable(window.scope.conversation_id) for window in windows]
        partitions = [window.partition for window in windows]
        values = (run.run_id, names, partitions, run.dry_run, MOST if most is None else most)
        status = await self._connection.execute(query("runs", "add_conversations"), *values)
        return int(status.rpartition(" ")[2])

    async def begin(self, run: ConsolidationRun, at: datetime) -> None:
        """Closes the list of conversations and begins the run. A run without conversations ends at once."""
        await self._connection.execute(query("runs", "begin"), run.run_id, at)

    async def unrequested(self, at: datetime, limit: int) -> list[ConversationToExtract]:
        """Conversations whose windows were not requested to extract yet; marks them as requested at `at`."""
        rows = await self._connection.fetch(query("runs", "request_first"), at, limit)
        return [ConversationToExtract(**row) for row in rows]

    async def unanswered(self, at: datetime, requested_before: datetime, limit: int) -> list[ConversationToExtract]:
        """Conversations that were requested to extract before that moment, and for which no extraction request has been seen."""
        rows = await self._connection.fetch(query("runs", "request_again"), at, requested_before, limit)
        return [ConversationToExtract(**row) for row in rows]

    async def settle(self, at: datetime, behind: Place, limit: int) -> Place:
        """Looks at a page of conversations and counts the results of those that are done; returns where the next page begins."""
        fetch, execute = self._connection.fetch, self._connection.execute
        looked_at = [tuple(row) for row in await fetch(query("runs", "open_page"), *behind, limit)]
        if looked_at:
            columns = [list(column) for column in zip(*looked_at, strict=True)]
            done = await fetch(query("runs", "settle"), at, *columns)
            if changed := sorted({row["run_id"] for row in done}):
                await execute(query("runs", "add_up"), changed)
        return looked_at[-1] if len(looked_at) == limit else BEGINNING

    async def finish(self, at: datetime, given_up_before: datetime) -> tuple[ConsolidationRun, ...]:
        """Ends runs whose conversations are all done, and runs that began before `given_up_before`; returns them."""
        running = await self._connection.fetch(query("runs", "all_done"))
        done = await self._connection.fetch(query("runs", "finish"), [row["run_id"] for row in running], at)
        late = await self._connection.fetch(query("runs", "give_up"), at, given_up_before)
        return runs.runs_of([*done, *late])

    async def fail(self, run_id: str, at: datetime, error: str) -> None:
        await self._connection.execute(query("runs", "fail"), run_id, at, error)

    async def forget(self, details_before: datetime, findings_before: datetime) -> None:
        """Deletes the conversations and the dry-run findings of runs that ended before these moments."""
        await self._connection.execute(query("runs", "forget_details"), details_before)
        await self._connection.execute(query("runs", "forget_findings"), findings_before)


def window_of(columns: dict[str, object]) -> Window:
    partition = columns.pop("partition")
    assert isinstance(partition, int)
    return Window(convert(columns, Scope), partition)
