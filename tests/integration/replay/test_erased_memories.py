"""No replay, cutover or undo of a cutover brings an erased memory back."""

import pytest

from deploy.cli.erase_memory import plan_memory
from schemas.errors import Misconfigured
from schemas.policies.shadows import shadow_of
from tests.integration.replay.replaying import (
    ADA,
    BOTH,
    GENERATION,
    PEANUTS,
    PREFERENCES,
    SHORT,
    Town,
    fates,
)

ALLERGIC, PREFERS, LIVES = "User is allergic to peanuts.", "User prefers short recipes.", "User lives in Lisbon."
SHADOW = shadow_of(GENERATION, ADA)


async def erase(town: Town, text: str = ALLERGIC) -> None:
    (memory,) = [each for each in await town.memories.in_namespace(ADA) if each.text == text]
    assert await town.command("erase", memory_id=memory.memory_id) == memory.memory_id


async def words_left(town: Town, word: str = "peanuts") -> list[str]:
    """The tables, except the archive, that have the word."""
    tables = ("memories", "memory_versions", "extractions", "outbox")
    found = "SELECT EXISTS (SELECT FROM {} AS t WHERE t::text LIKE '%' || $1 || '%')"
    return [table for table in tables if await town.pool.fetchval(found.format(table), word)]


async def test_a_replay_after_the_erasure_makes_nothing_of_its_message_and_changes_no_other_memory(town: Town):
    town.policies = BOTH
    await town.say("breakfast", f"{PEANUTS} {SHORT}", "I live in Lisbon.")
    assert await town.live() == {ALLERGIC, PREFERS, LIVES}
    await erase(town)
    generation = await town.replay(GENERATION, BOTH)
    assert await town.live(SHADOW) == {LIVES}
    assert await words_left(town) == []
    assert fates(await town.diff(generation)) == {("kept", PREFERS), ("same", LIVES)}
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == {PREFERS, LIVES}


async def test_a_generation_replayed_before_the_erasure_loses_the_memory_and_the_proposals_it_came_from(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    generation = await town.replay(GENERATION, BOTH)
    assert await town.live(SHADOW) == {ALLERGIC, PREFERS}
    await erase(town)
    assert await town.live(SHADOW) == {PREFERS}
    assert await town.found(SHADOW, ALLERGIC) == []
    assert await words_left(town) == []
    assert ALLERGIC not in {text for _, text in fates(await town.diff(generation))}
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == {PREFERS}


async def test_a_cutover_before_the_shadow_is_cleaned_restores_nothing(town: Town):
    await town.say("breakfast", PEANUTS)
    generation = await town.replay(GENERATION, BOTH)
    await erase(town)
    await town.pool.execute("UPDATE erased_memories SET namespace = 'away'")
    other = "0f0f0f0f"
    again = await town.replay(other, BOTH)  # as if a worker had died before it cleaned this shadow
    await town.pool.execute("UPDATE erased_memories SET namespace = $1", ADA)
    assert await town.live(shadow_of(other, ADA)) == {ALLERGIC}
    assert (await town.diff(generation), await town.diff(again)) == ([], [])
    await town.cutover.cut_over(other)
    assert await town.live() == set()


async def test_a_repeated_erasure_cleans_shadows_that_the_first_one_left(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    (memory,) = [each for each in await town.memories.in_namespace(ADA) if each.text == ALLERGIC]
    await erase(town)
    await town.pool.execute("UPDATE erased_memories SET namespace = 'away'")
    await town.replay(GENERATION, BOTH)  # as if a worker had died before it cleaned this shadow
    await town.pool.execute("UPDATE erased_memories SET namespace = $1", ADA)
    assert await town.live(SHADOW) == {ALLERGIC, PREFERS}
    await town.command("erase", memory_id=memory.memory_id)
    assert await town.live(SHADOW) == {PREFERS}


async def test_the_command_line_erases_no_memory_of_a_shadow(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.replay(GENERATION, BOTH)
    (replayed,) = await town.memories.in_namespace(SHADOW)
    with pytest.raises(Misconfigured, match="there is no memory"):
        await plan_memory(town.pool, replayed.memory_id, json=False)


async def test_the_undo_of_a_cutover_does_not_restore_a_memory_from_a_message_of_an_erased_one(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    (deleted,) = await town.memories.in_namespace(ADA, statuses=("deleted",))
    made = await town.command("import", memory_id="again", text="User avoids peanuts.")
    await town.pool.execute(
        "UPDATE memory_versions SET after = jsonb_set(after, '{sources}', (SELECT before->'sources' FROM memory_versions "
        "WHERE memory_id = $1 AND before->>'status' = 'active')) WHERE memory_id = $2",
        *(deleted.memory_id, made),
    )
    await town.command("erase", memory_id=made)
    undone = await town.cutover.undo(GENERATION)
    assert (undone.changes, undone.left) == (0, 1)
    assert await town.live() == set()


async def test_the_undo_of_a_cutover_leaves_an_erased_memory_erased(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, BOTH)
    await town.cutover.cut_over(GENERATION)
    await erase(town)
    await town.cutover.undo(GENERATION)
    assert ALLERGIC not in await town.live()
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == {PREFERS}
    assert await words_left(town) == []
