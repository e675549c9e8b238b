"""Cutovers to a replayed generation are atomic, idempotent and reversible."""

import asyncio
from collections.abc import Sequence

import asyncpg
import numpy as np
import pytest

from agents.replay.cutover import CutoverResult
from schemas import codec
from schemas.errors import Misconfigured, Retryable
from schemas.kafka import topics
from schemas.memories.events import MemoryEvent
from schemas.policies.policies import Policies
from schemas.replay.generations import Generation
from sinks.postgres.connection import Connection
from sinks.replay.shadows import SwitchedNamespace
from tests.integration.replay.replaying import (
    ADA,
    BOTH,
    GENERATION,
    PEANUTS,
    PREFERENCES,
    SHELLFISH,
    SHORT,
    SHORTER,
    Town,
    after_each_page,
    fates,
    kitchen,
)


async def test_a_replay_under_another_policy_is_compared_cut_over_and_undone_during_live_traffic(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    by_hand = await town.command("create", text="Ada cooks on Sundays.", importance=0.5)
    before = await town.live()
    assert before == {"User is allergic to peanuts.", "Ada cooks on Sundays."}

    generation = await town.replay(GENERATION, PREFERENCES)
    await town.say("dinner", SHELLFISH)
    published = len(town.publisher.records)
    assert fates(await town.diff(generation)) == {
        ("lost", "User is allergic to peanuts."),
        ("added", "User prefers short recipes."),
        ("kept", "Ada cooks on Sundays."),
        ("kept", "User is allergic to shellfish."),
    }
    assert len(town.publisher.records) == published, "looking tells nobody anything"

    done = await town.cutover.cut_over(GENERATION)
    assert (done.namespaces, done.changes) == (1, 3), "one lost, one added, and one that was linked to the lost one"
    assert await town.live() == {
        "Ada cooks on Sundays.",
        "User is allergic to shellfish.",
        "User prefers short recipes.",
    }
    assert await town.found(ADA, "User prefers short recipes.") == ["User prefers short recipes."]
    assert await town.found(ADA, "User is allergic to peanuts.") == []
    assert by_hand is not None

    undone = await town.cutover.undo(GENERATION)
    assert (undone.changes, undone.left) == (3, 0)
    assert await town.live() == before | {"User is allergic to shellfish."}
    assert await town.found(ADA, "User is allergic to peanuts.") == ["User is allergic to peanuts."]
    assert await town.found(ADA, "User prefers short recipes.") == []

    again = await town.cutover.cut_over(GENERATION)
    assert again.changes == 3
    assert "User prefers short recipes." in await town.live()


async def test_every_change_of_a_cutover_is_published_once_in_namespace_order(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    await town.cutover.undo(GENERATION)
    events = [codec.decode(record.value, MemoryEvent) for record in town.publisher.on(topics.EVENTS)]
    assert [event.data.sequence for event in events] == [1, 2, 3, 4, 5]
    assert [event.data.change for event in events][1:] == ["deleted", "created", "restored", "deleted"]
    assert {event.data.namespace for event in events} == {ADA}
    assert events[1].data.cause.reason == f"cutover to generation {GENERATION}"


async def test_a_failed_cutover_switches_nothing_and_can_be_retried(town: Town):
    await town.replay_of("ada", "bob")
    await town.pool.execute(
        "ALTER TABLE generation_namespaces ADD CHECK (namespace <> 'kitchen/bob' OR first_sequence IS NULL)"
    )
    with pytest.raises(asyncpg.CheckViolationError):
        await town.cutover.cut_over(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}
    await town.pool.execute("ALTER TABLE generation_namespaces DROP CONSTRAINT generation_namespaces_check")
    done = await town.cutover.cut_over(GENERATION)
    assert done.namespaces == 2
    assert await town.live() == await town.live("kitchen/bob") == {"User prefers short recipes."}


async def test_more_namespaces_than_one_transaction_are_all_cut_over_and_undone(town: Town):
    users = ("ada", "bob", "cleo", "dan")
    await town.replay_of(*users)
    few = town.cutover_of(at_once=2)
    assert (await few.cut_over(GENERATION)).namespaces == 4
    assert [await town.live(f"kitchen/{user}") for user in users] == [{"User prefers short recipes."}] * 4
    assert (await few.cut_over(GENERATION)).changes == 0, "all of it is switched already"
    assert (await few.undo(GENERATION)).namespaces == 4
    assert [await town.live(f"kitchen/{user}") for user in users] == [{"User is allergic to peanuts."}] * 4


async def test_a_cutover_undone_between_two_of_its_transactions_stops(town: Town):
    await town.replay_of("ada", "bob")
    few = town.cutover_of(at_once=1)

    async def taken_back(page: Sequence[SwitchedNamespace]) -> None:
        await town.cutover.undo(GENERATION)

    after_each_page(few, taken_back)
    with pytest.raises(Misconfigured, match="is undone"):
        await few.cut_over(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}


async def test_an_undo_during_which_a_cutover_begins_stops_and_leaves_nothing_half_switched(town: Town):
    await town.replay_of("ada", "bob")
    await town.cutover.cut_over(GENERATION)
    few = town.cutover_of(at_once=1)

    async def cut_over_again(page: Sequence[SwitchedNamespace]) -> None:
        await town.cutover.cut_over(GENERATION)

    after_each_page(few, cut_over_again)
    with pytest.raises(Misconfigured, match="is cutover, and must be undone"):
        await few.undo(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User prefers short recipes."}
    await town.cutover.undo(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}


async def test_a_cutover_partially_overtaken_by_an_undo_stops(town: Town):
    users = ("ada", "bob", "cleo")
    await town.replay_of(*users)
    slow, fast = town.cutover_of(at_once=1), town.cutover_of(at_once=1)
    slow_projected, fast_projected = slow._project, fast._project

    async def dies(page: Sequence[SwitchedNamespace]) -> None:
        await fast_projected(page)
        raise Retryable("killed")

    async def taken_back_in_part(page: Sequence[SwitchedNamespace]) -> None:
        await slow_projected(page)
        with pytest.raises(Retryable, match="killed"):
            await fast.undo(GENERATION)

    slow._project, fast._project = taken_back_in_part, dies  # type: ignore[method-assign]
    with pytest.raises(Misconfigured, match="is undone"):
        await slow.cut_over(GENERATION)
    for user in users:
        assert await town.live(f"kitchen/{user}") == {"User is allergic to peanuts."}


async def test_an_interrupted_undo_is_completed_by_another(town: Town):
    await town.replay_of("ada", "bob")
    await town.cutover.cut_over(GENERATION)
    few = town.cutover_of(at_once=1)

    async def dies(page: Sequence[SwitchedNamespace]) -> None:
        raise Retryable("killed")

    after_each_page(few, dies)
    with pytest.raises(Retryable, match="killed"):
        await few.undo(GENERATION)
    assert await town.live("kitchen/bob") == {"User prefers short recipes."}
    assert (await town.cutover.undo(GENERATION)).namespaces == 1
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}
    with pytest.raises(Misconfigured, match="is undone, and must be cutover"):
        await town.cutover.undo(GENERATION)


@pytest.mark.parametrize(("policies", "fate"), [(PREFERENCES, "lost"), (SHORTER, "changed")], ids=["lost", "changed"])
async def test_an_undo_that_waited_for_its_cutover_restores_memories_with_their_vectors(
    town: Town, policies: Policies, fate: str
):
    await town.say("breakfast", PEANUTS)
    generation = await town.replay(GENERATION, policies)
    assert (fate, "User is allergic to peanuts.") in fates(await town.diff(generation))
    slow, undoings = town.cutover_of(), list[asyncio.Task[CutoverResult]]()
    switched = slow._namespace

    async def undoing_begins(connection: Connection, generation: Generation, namespace: str) -> CutoverResult:
        done = await switched(connection, generation, namespace)
        undoings.append(asyncio.create_task(town.cutover.undo(GENERATION)))
        await town.waiting_for_a_row(undoings[-1])
        return done

    slow._namespace = undoing_begins  # type: ignore[method-assign]
    await slow.cut_over(GENERATION)
    assert (await undoings[0]).changes == 1
    (memory,) = await town.memories.in_namespace(ADA)
    assert memory.text == "User is allergic to peanuts."
    vectors = await town.memories.vectors([memory.memory_id], town.embedder.model)
    assert np.allclose(vectors[memory.memory_id], await town.embedder.embed([memory.text]), atol=1e-3)
    assert await town.found(ADA, memory.text) == [memory.text]


async def test_live_decisions_and_cutovers_of_several_namespaces_do_not_deadlock(town: Town):
    users = ("ada", "bob", "cleo")
    await town.replay_of(*users)

    async def switch() -> None:
        for _ in range(3):
            await town.cutover.cut_over(GENERATION)
            await town.cutover.undo(GENERATION)

    async with asyncio.timeout(60):
        talking = (town.say(f"more-{n}", SHELLFISH, user=users[n % 3]) for n in range(9))
        await asyncio.gather(switch(), *talking)
    for user in users:
        assert await town.live(f"kitchen/{user}") == {"User is allergic to peanuts.", "User is allergic to shellfish."}


async def test_changes_made_after_a_cutover_survive_its_undo(town: Town):
    await town.say("breakfast", SHORT)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    (memory,) = await town.memories.in_namespace(ADA)
    await town.command("update", memory_id=memory.memory_id, text="Ada prefers very short recipes.")
    undone = await town.cutover.undo(GENERATION)
    assert (undone.changes, undone.left) == (0, 1)
    assert await town.live() == {"Ada prefers very short recipes."}


async def test_a_replay_that_finishes_late_does_not_revert_the_cutover_of_its_generation(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    with pytest.raises(Misconfigured, match="no longer being built"):
        await town.generations.ready(GENERATION, town.now())
    await town.cutover.undo(GENERATION)
    assert await town.live() == {"User is allergic to peanuts."}


async def test_messages_hidden_only_by_a_replayed_wish_are_hidden_from_cutover_until_its_undo(town: Town):
    """The live policy only reports wishes, and the replayed policy applies them."""
    town.policies = kitchen(taxonomy=("fact", "preference"), on_forget_wish="report")
    await town.say("breakfast", PEANUTS, "I live in Berlin.")
    await town.say("lunch", "Please forget that I live in Berlin.")

    await town.replay(GENERATION, BOTH)
    assert await hidden(town) == set()
    await town.cutover.cut_over(GENERATION)
    assert await hidden(town) == {"m2", "m3"}
    await town.cutover.undo(GENERATION)
    assert await hidden(town) == set()


async def hidden(town: Town) -> set[str]:
    rows = await town.pool.fetch("SELECT message_id FROM hidden_messages WHERE namespace = $1", ADA)
    return {row["message_id"] for row in rows}
