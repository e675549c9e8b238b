"""Expired memories stop being live; a conversation creates no more memories than its limit."""

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agents.curation.curator import Curator
from schemas.extraction.candidates import Source
from schemas.memories.commands import Command
from schemas.policies.policies import Policies, Policy
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

DAY = timedelta(days=1)
BRIEF = Policy(name="brief", expire_after_s=DAY.total_seconds())


def at(bench: "Bench", moment: timedelta, *policies: Policy) -> Curator:
    """A curator whose clock shows so long after noon."""
    return bench.curator_under(Policies(policies), clock=lambda: NOON + moment)


def elsewhere(message_id: str) -> Source:
    """A message of another conversation."""
    return Source(conversation_id="another", message_id=message_id, timestamp=NOON)


async def test_a_memory_not_repeated_in_time_expires_and_stays_readable(bench: "Bench") -> None:
    await at(bench, timedelta(), BRIEF).curate(bench.batch("User has a cold", "User likes tea", policy="brief"))
    await at(bench, DAY / 2, BRIEF).curate(bench.batch("User likes tea", policy="brief"))
    assert await at(bench, DAY * 0.99).expire() == 0
    assert await at(bench, DAY).expire() == 1
    assert await at(bench, DAY).expire() == 0
    (tea,) = await bench.memories.in_namespace("n")
    assert tea.text == "User likes tea"
    (cold,) = await bench.memories.in_namespace("n", statuses=("expired",))
    assert (cold.text, cold.valid_until) == ("User has a cold", NOON + DAY)
    event = bench.events()[-1]
    assert (event.type, event.data.memory) == ("memstream.memory.expired", cold)
    assert bench.vectors.points[cold.memory_id].status == "expired"
    assert await bench.pending() == 0
    assert await at(bench, DAY * 2).expire() == 1


async def test_a_memory_expires_at_its_own_time_and_is_restored_by_undo(bench: "Bench") -> None:
    memory = await bench.remember("User has a cold")
    update = {"command_id": uuid4().hex, "namespace": "n", "at": NOON, "memory_id": memory.memory_id}
    await bench.curator.apply_command(Command(kind="update", expires_at=NOON + DAY, **update))
    assert await at(bench, DAY).expire() == 1
    await at(bench, DAY).apply_command(Command(kind="undo", **(update | {"command_id": "undo"})))
    (restored,) = await bench.memories.in_namespace("n")
    assert (restored.text, restored.expires_at) == ("User has a cold", None)
    assert await at(bench, DAY * 9).expire() == 0


async def test_a_memory_without_expiry_does_not_expire_after_being_reinforced(bench: "Bench") -> None:
    await bench.remember("User has a dog")
    await at(bench, timedelta(), BRIEF).curate(bench.batch("User has a dog", policy="brief"))
    assert await at(bench, DAY * 9).expire() == 0


@pytest.mark.parametrize("batches", [1, 2])
async def test_a_conversation_creates_at_most_its_limit_of_memories_most_important_first(
    bench: "Bench", batches: int
) -> None:
    one = Policy(name="one", max_per_conversation=1)
    curator = at(bench, timedelta(), one)
    trifle = bench.candidate("User likes tea", importance=0.2)
    allergy = bench.candidate("User is allergic to nuts", importance=0.9)
    outcome = await curator.curate(bench.batch(trifle, allergy, policy="one"))
    if batches == 2:
        late = await curator.curate(bench.batch(bench.candidate("User owns a boat", importance=1.0), policy="one"))
        assert [ruling.result for ruling in late.rulings] == ["dropped"]
    assert [ruling.result for ruling in outcome.rulings] == ["dropped", "created"]
    assert "at most 1" in (outcome.rulings[0].reason or "")
    assert [memory.text for memory in await bench.memories.in_namespace("n")] == ["User is allergic to nuts"]


async def test_known_memories_are_reinforced_beyond_the_limit_per_conversation(bench: "Bench") -> None:
    curator = at(bench, timedelta(), Policy(name="one", max_per_conversation=1))
    await bench.remember("User has a dog")
    outcome = await curator.curate(bench.batch("User has a dog", "User owns a boat", policy="one"))
    assert [ruling.result for ruling in outcome.rulings] == ["reinforced", "dropped"]


async def test_a_contradiction_beyond_the_limit_per_conversation_is_dropped(bench: "Bench") -> None:
    curator = at(bench, timedelta(), Policy(name="one", max_per_conversation=1))
    known = [await bench.remember(text, sources=(elsewhere(text),)) for text in ("User has a dog", "User owns a boat")]
    said = [
        bench.candidate(text, contradicts=memory.memory_id)
        for text, memory in zip(("User gave the dog away", "User sold the boat"), known, strict=True)
    ]
    outcome = await curator.curate(bench.batch(*said, policy="one"))
    assert [ruling.result for ruling in outcome.rulings] == ["superseded", "dropped"]
    assert "at most 1" in (outcome.rulings[1].reason or "")
    late = await curator.curate(bench.batch(replace(said[1], candidate_id="late"), policy="one"))
    assert [ruling.result for ruling in late.rulings] == ["dropped"]
    live = {memory.text for memory in await bench.memories.in_namespace("n")}
    assert live == {"User gave the dog away", "User owns a boat"}


async def test_superseding_by_a_known_memory_does_not_count_towards_the_limit_per_conversation(bench: "Bench") -> None:
    curator = at(bench, timedelta(), Policy(name="one", max_per_conversation=1))
    dog, cat = [await bench.remember(text, sources=(elsewhere(text),)) for text in ("User has a dog", "User has a cat")]
    said = bench.candidate("User has a cat", contradicts=dog.memory_id, importance=0.9)
    outcome = await curator.curate(bench.batch(said, "User owns a boat", policy="one"))
    assert [ruling.result for ruling in outcome.rulings] == ["superseded", "created"]
    assert outcome.rulings[0].memory_id == cat.memory_id


async def test_a_home_ends_on_the_day_of_the_move_and_not_before(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    move = bench.candidate("User lives in Oulu from Friday", valid_from=NOON + 5 * DAY)
    await at(bench, DAY).curate(bench.batch(move))
    assert await at(bench, DAY * 4.9).expire() == 0
    assert {each.text for each in await bench.memories.in_namespace("n")} == {home.text, move.text}
    assert await at(bench, DAY * 5).expire() == 1
    (left,) = await bench.memories.in_namespace("n")
    ended = await bench.memories.get(home.memory_id)
    assert ended is not None
    assert left.text == move.text
    assert (ended.status, ended.valid_until, ended.superseded_by) == ("superseded", NOON + 5 * DAY, left.memory_id)
    changes = [event.data.change for event in bench.events() if event.subject == home.memory_id]
    assert changes == ["created", "updated", "superseded"]
    assert bench.vectors.points[home.memory_id].status == "superseded"


async def test_a_home_does_not_end_when_the_move_was_deleted_before_its_day(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    move = await bench.remember("User lives in Oulu from Friday", valid_from=NOON + 5 * DAY)
    gone = Command(command_id=uuid4().hex, kind="delete", namespace="n", at=NOON + DAY, memory_id=move.memory_id)
    await at(bench, DAY).apply_command(gone)
    assert await at(bench, DAY * 6).expire() == 1
    (left,) = await bench.memories.in_namespace("n")
    assert (left.memory_id, left.valid_until, left.superseded_by) == (home.memory_id, None, None)


async def test_a_home_ends_when_the_move_begins_that_replaced_the_planned_one(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    move = await bench.remember("User lives in Oulu from Friday", valid_from=NOON + 5 * DAY)
    later = bench.candidate("User lives in Oulu from Tuesday", valid_from=NOON + 9 * DAY, supersedes=(move.memory_id,))
    await at(bench, DAY).curate(bench.batch(later))
    assert await at(bench, DAY * 6).expire() == 0
    assert {each.text for each in await bench.memories.in_namespace("n")} == {home.text, later.text}
    assert await at(bench, DAY * 9).expire() == 1
    assert [each.text for each in await bench.memories.in_namespace("n")] == [later.text]


async def test_a_home_lasts_until_the_beginning_of_a_move_that_was_changed_by_hand(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    move = await bench.remember("User lives in Oulu from Friday", valid_from=NOON + 5 * DAY)
    update = {"command_id": uuid4().hex, "namespace": "n", "at": NOON, "memory_id": move.memory_id}
    await bench.curator.apply_command(Command(kind="update", valid_from=NOON + DAY * 9, **update))
    assert await at(bench, DAY * 5).expire() == 1
    left = await bench.memories.get(home.memory_id)
    assert left is not None
    assert (left.status, left.valid_until, left.superseded_by) == ("active", NOON + DAY * 9, move.memory_id)
    assert await at(bench, DAY * 9).expire() == 1


async def test_undo_removes_the_end_date_set_by_a_planned_move(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    await bench.remember("User lives in Oulu from Friday", valid_from=NOON + 5 * DAY)
    undo = Command(command_id=uuid4().hex, kind="undo", namespace="n", at=NOON + DAY, memory_id=home.memory_id)
    await at(bench, DAY).apply_command(undo)
    assert await at(bench, DAY * 6).expire() == 0
    left = await bench.memories.get(home.memory_id)
    assert left is not None
    assert (left.status, left.valid_until, left.superseded_by) == ("active", None, None)
    # The plan is still there: only the end was undone.
    assert {each.text for each in await bench.memories.in_namespace("n")} == {
        home.text,
        "User lives in Oulu from Friday",
    }


async def test_a_temporary_statement_ends_no_other_memory_and_expires_by_itself(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    await bench.remember("User lives in Porto until Friday", valid_until=NOON + 5 * DAY)
    assert len(await bench.memories.in_namespace("n")) == 2
    assert await at(bench, DAY * 5).expire() == 1
    (left,) = await bench.memories.in_namespace("n")
    (over,) = await bench.memories.in_namespace("n", statuses=("expired",))
    assert left.memory_id == home.memory_id
    assert (over.text, over.valid_until) == ("User lives in Porto until Friday", NOON + 5 * DAY)


async def test_a_memory_created_with_an_end_in_the_past_expires_as_of_then(bench: "Bench") -> None:
    made = Command(
        command_id="c", kind="create", namespace="n", at=NOON, text="User lived in Porto", valid_until=NOON - DAY
    )
    await bench.curator.apply_command(made)
    assert await at(bench, timedelta()).expire() == 1
    (over,) = await bench.memories.in_namespace("n", statuses=("expired",))
    assert (over.text, over.valid_from, over.valid_until) == ("User lived in Porto", None, NOON - DAY)
