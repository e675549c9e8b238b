"""The positions of runs over 80 varied conversations match a computation message by message."""

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

import pytest
from msgspec import Struct

from agents.consolidation.requests import manual_run
from schemas.consolidation.runs import RunRequest
from schemas.conversations.messages import Scope
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.consolidation.dry_runs import ConversationRange, DryRuns
from sinks.consolidation.run_progress import BEGINNING, RunProgress, Window
from sinks.consolidation.runs import Runs
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows
from tests.builders.archived_messages import archived_message
from tests.fakes.windows import a_state

NOON: Final = datetime(2026, 3, 2, 12, tzinfo=UTC)
PARTITION: Final = 3
KINDS: Final = ("completed", "completed", "failed", "open", "replayed", "summary", "of another partition")


class Slice(Struct):
    first: int
    last: int
    kind: str

    @property
    def own(self) -> bool:
        """Whether it says anything of what waits."""
        return self.kind in ("completed", "failed", "open")

    @property
    def settled(self) -> bool:
        return self.kind in ("completed", "failed")

    def row(self, number: int, conversation: str) -> tuple[object, ...]:
        partition = PARTITION + 1 if self.kind == "of another partition" else PARTITION
        namespaces = {"replayed": ["~0a1b2c3d/app/ada"], "summary": []}.get(self.kind, ["app/ada"])
        failed, answered = self.kind == "failed", self.kind not in ("failed", "open")
        settled = (NOON if answered else None, NOON if failed else None)
        return f"{conversation}/{number}", conversation, partition, self.first, self.last, namespaces, *settled


class Talk(Struct):
    name: str
    positions: Sequence[int]
    slices: Sequence[Slice]
    extracted_to: int
    opened: int
    forgotten: bool

    @property
    def stretch(self) -> ConversationRange:
        return ConversationRange(Scope(conversation_id=self.name), PARTITION, self.positions[1], self.positions[-2])

    @property
    def unsettled(self) -> list[int]:
        return [at for at in self.positions if not within(at, [each for each in self.slices if each.settled])]

    @property
    def waiting(self) -> list[int]:
        return [at for at in self.unsettled if at >= max(self.extracted_to, self.opened)]

    @property
    def unheard(self) -> list[int]:
        return [at for at in self.positions if not within(at, [each for each in self.slices if each.own])]

    def in_stretch(self, positions: Iterable[int]) -> list[int]:
        return [at for at in positions if self.stretch.first <= at <= self.stretch.last]


def within(at: int, slices: Iterable[Slice]) -> bool:
    return any(each.first <= at <= each.last for each in slices)


def a_talk(number: int, random: Random) -> Talk:
    def a_slice() -> Slice:
        first = random.randrange(40)
        return Slice(first, first + random.randrange(30), random.choice(KINDS))

    return Talk(
        name=f"c{number:02}",
        positions=sorted(random.sample(range(40), random.randrange(4, 12))),
        slices=[a_slice() for _ in range(random.randrange(10))],
        extracted_to=random.choice((0, 0, 9, 20)),
        opened=random.choice((0, 0, 5)),
        forgotten=random.random() < 0.1,
    )


@pytest.fixture
def talks() -> list[Talk]:
    random = Random(9)
    return [a_talk(number, random) for number in range(80)]


@pytest.fixture
async def stored(pool: Pool, talks: list[Talk]) -> AsyncIterator[Pool]:
    await Archive(pool).store([said(talk.name, at) for talk in talks for at in talk.positions])
    phases = {talk.name: "forgotten" if talk.forgotten else "open" for talk in talks}
    await Windows(pool).project(
        [
            a_state(
                *(talk.name,),
                scope=Scope(conversation_id=talk.name),
                partition=PARTITION,
                extracted_to=talk.extracted_to,
                opened=talk.opened,
                phase=phases[talk.name],
            )
            for talk in talks
        ]
    )
    await pool.executemany(
        "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
        " policy_version, namespaces, completed_at, failed_at) VALUES ($1, $2, $3, $4, $5, 'p', 1, $6, $7, $8)",
        [each.row(number, talk.name) for talk in talks for number, each in enumerate(talk.slices)],
    )
    yield pool


def said(conversation: str, at: int) -> ArchivedMessage:
    return archived_message(conversation, at, partition=PARTITION, timestamp=NOON)


async def a_run(pool: Pool, talks: Sequence[Talk]) -> str:
    """One under way about a stretch of each conversation, all asked for an hour ago."""
    run = manual_run(RunRequest(), (), "ada", NOON)
    await Runs(pool).add(run)
    await pool.execute("UPDATE consolidation_runs SET status = 'running', started_at = $1", NOON)
    await pool.executemany(
        "INSERT INTO consolidation_conversations (run_id, conversation_id, partition, first_position, last_position, asked_at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        [
            (run.run_id, talk.name, PARTITION, talk.stretch.first, talk.stretch.last, NOON - timedelta(hours=1))
            for talk in talks
        ],
    )
    return run.run_id


async def test_a_run_covers_each_conversation_from_its_first_to_its_last_unextracted_message(
    stored: Pool, talks: list[Talk]
) -> None:
    run = manual_run(RunRequest(), (), "ada", NOON)
    await Runs(stored).add(run)
    async with stored.acquire() as connection:
        windows = [Window(Scope(conversation_id=talk.name), PARTITION) for talk in talks]
        count = await RunProgress(connection).add_conversations(run, windows)
    rows = await stored.fetch("SELECT conversation_id, first_position, last_position FROM consolidation_conversations")
    about = {row["conversation_id"]: (row["first_position"], row["last_position"]) for row in rows}
    assert about == {talk.name: (talk.waiting[0], talk.waiting[-1]) for talk in talks if talk.waiting}
    assert 20 < count == len(about) < len(talks)


async def test_a_conversation_is_done_once_its_range_contains_no_unextracted_message(
    stored: Pool, talks: list[Talk]
) -> None:
    await a_run(stored, talks)
    await stored.execute("DELETE FROM windows WHERE conversation_id < 'c10'")
    async with stored.acquire() as connection:
        await RunProgress(connection).settle(NOON, BEGINNING, 1_000)
    rows = await stored.fetch("SELECT conversation_id FROM consolidation_conversations WHERE done_at IS NOT NULL")
    over = {
        talk.name
        for talk in talks
        if not talk.in_stretch(talk.unsettled if talk.name < "c10" else talk.waiting)
        or (talk.forgotten and talk.name >= "c10")
    }
    assert {row["conversation_id"] for row in rows} == over
    assert 10 < len(over) < len(talks) - 10


async def test_conversations_with_a_message_in_no_slice_are_requested_again(stored: Pool, talks: list[Talk]) -> None:
    await a_run(stored, talks)
    async with stored.acquire() as connection:
        again = await RunProgress(connection).unanswered(NOON, NOON, 1_000)
    unheard = {talk.name for talk in talks if talk.in_stretch(talk.unheard)}
    assert {each.conversation_id for each in again} == unheard
    assert 10 < len(unheard) < len(talks) - 10


async def test_a_dry_run_reads_the_messages_that_no_completed_slice_covers(stored: Pool, talks: list[Talk]) -> None:
    found = {talk.name: [each.position for each in await DryRuns(stored).waiting(talk.stretch)] for talk in talks}
    assert found == {talk.name: talk.in_stretch(talk.unsettled) for talk in talks}
    assert len({len(each) for each in found.values()}) > 3
