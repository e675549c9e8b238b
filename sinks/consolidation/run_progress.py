"""Consolidation runs as the scheduler knows them: what is due, what they are about, and how far they are."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from schemas.codec import convert
from schemas.consolidation.runs import ConsolidationRun, Scheduled
from schemas.conversations.messages import Scope
from schemas.extraction.requests import Lane
from schemas.policies.policies import Schedule
from sinks.consolidation import runs
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query

MOST: Final = 2**31 - 1


class Window(NamedTuple):
    """Whose a window is, and where its words go to."""

    scope: Scope
    partition: int


class ConversationToExtract(NamedTuple):
    """A conversation that is to be told to have what waits extracted."""

    conversation_id: str
    partition: int
    lane: Lane


Place = tuple[str, str, int]  # of a conversation of a run
BEGINNING: Final[Place] = ("", "", -1)


class RunProgress:
    """Works within a transaction of whoever leads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def schedules(self) -> dict[str, Scheduled]:
        """By policy."""
        rows = await self._connection.fetch(query("runs", "schedules"))
        return {row["policy"]: convert(dict(row), Scheduled) for row in rows}

    async def set_schedule(self, policy: str, schedule: Schedule, next_due: datetime) -> None:
        await self._connection.execute(query("runs", "set_schedule"), policy, schedule, next_due)

    async def keep_schedules(self, policies: Collection[str]) -> None:
        """Forgets those of all other policies."""
        await self._connection.execute(query("runs", "drop_schedules"), list(map(storable, policies)))

    async def add(self, run: ConsolidationRun) -> bool:
        """Whether it was not known before."""
        return await runs.add(self._connection, run)

    async def pending(self, limit: int) -> tuple[ConsolidationRun, ...]:
        """Those that have not begun: those of schedules before those by hand, and of each the oldest first."""
        return runs.runs_of(await self._connection.fetch(query("runs", "pending"), limit))

    async def is_pending(self, run_id: str) -> bool:
        """Whether nobody has begun it meanwhile."""
        row = await self._connection.fetchrow(query("runs", "of"), run_id)
        return row is not None and row["status"] == "pending"

    async def windows(self, conversation_id: str | None, behind: Window | None, limit: int) -> list[Window]:
        """A page of the windows that are not forgotten: of one conversation, or of all."""
        place = (behind.scope.conversation_id, behind.partition) if behind else ("", -1)
        rows = await self._connection.fetch(query("runs", "windows"), conversation_id, *place, limit)
        return [window_of(dict(row)) for row in rows]

    async def speakers(self, windows: Sequence[Window]) -> dict[str, list[str]]:
        """The users who said something, by conversation, as far as the archive has it."""
        names = sorted({storable(window.scope.conversation_id) for window in windows})
        rows = await self._connection.fetch(query("runs", "speakers"), names)
        return {row["conversation_id"]: row["user_ids"] for row in rows}

    async def add_conversations(self, run: ConsolidationRun, windows: Sequence[Window], most: int | None = None) -> int:
        """Makes the run be about what waits in these windows, in at most so many of them; returns in how many."""
        names = [storable(window.scope.conversation_id) for window in windows]
        partitions = [window.partition for window in windows]
        values = (run.run_id, names, partitions, run.dry_run, MOST if most is None else most)
        status = await self._connection.execute(query("runs", "add_conversations"), *values)
        return int(status.rpartition(" ")[2])

    async def begin(self, run: ConsolidationRun, at: datetime) -> None:
        """It is about nothing more than what it is about now; about nothing at all, it is over."""
        await self._connection.execute(query("runs", "begin"), run.run_id, at)

    async def unasked(self, at: datetime, limit: int) -> list[ConversationToExtract]:
        """Those that nobody has told yet; from now on they count as told at `at`."""
        rows = await self._connection.fetch(query("runs", "ask_first"), at, limit)
        return [ConversationToExtract(**row) for row in rows]

    async def unanswered(self, at: datetime, asked_before: datetime, limit: int) -> list[ConversationToExtract]:
        """Those that were told before, and of which no slice has come to anybody."""
        rows = await self._connection.fetch(query("runs", "ask_again"), at, asked_before, limit)
        return [ConversationToExtract(**row) for row in rows]

    async def settle(self, at: datetime, behind: Place, limit: int) -> Place:
        """Looks at a page of conversations, and counts what came of those that are done; returns the place to go on behind."""
        fetch, execute = self._connection.fetch, self._connection.execute
        looked_at = [tuple(row) for row in await fetch(query("runs", "open_page"), *behind, limit)]
        if looked_at:
            columns = [list(column) for column in zip(*looked_at, strict=True)]
            done = await fetch(query("runs", "settle"), at, *columns)
            if changed := sorted({row["run_id"] for row in done}):
                await execute(query("runs", "add_up"), changed)
        return looked_at[-1] if len(looked_at) == limit else BEGINNING

    async def finish(self, at: datetime, given_up_before: datetime) -> tuple[ConsolidationRun, ...]:
        """Ends the runs all of whose conversations are done, and those that began too long ago; returns them."""
        running = await self._connection.fetch(query("runs", "all_done"))
        done = await self._connection.fetch(query("runs", "finish"), [row["run_id"] for row in running], at)
        late = await self._connection.fetch(query("runs", "give_up"), at, given_up_before)
        return runs.runs_of([*done, *late])

    async def fail(self, run_id: str, at: datetime, error: str) -> None:
        await self._connection.execute(query("runs", "fail"), run_id, at, error)

    async def forget(self, details_before: datetime, findings_before: datetime) -> None:
        """Of runs that ended before: which conversations they were about, and what dry runs found."""
        await self._connection.execute(query("runs", "forget_details"), details_before)
        await self._connection.execute(query("runs", "forget_findings"), findings_before)


def window_of(columns: dict[str, object]) -> Window:
    partition = columns.pop("partition")
    assert isinstance(partition, int)
    return Window(convert(columns, Scope), partition)
