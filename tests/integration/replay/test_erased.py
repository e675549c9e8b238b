"""A replay restores no erased or deleted data."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from agents.replay.conversations import plan_conversations
from schemas.erasure.erasures import Erasure, Fence
from schemas.errors import Misconfigured
from schemas.extraction.candidates import CandidateBatch
from schemas.memories.commands import Command
from schemas.policies.shadows import shadow_of
from sinks.erasure.erasures import Erasures, PlannedNamespace
from sinks.erasure.purges import Purges
from tests.integration.replay.replaying import (
    ADA,
    BOTH,
    GENERATION,
    PEANUTS,
    PREFERENCES,
    SAID_FROM,
    SHORT,
    Asked,
    Town,
    fates,
)


async def forgotten(town: Town, erasures: Erasures, erasure: Erasure, most: int | None = None) -> list[str]:
    """Where one turn of an erasure forgets."""
    unsent = (await erasures.unsent(erasure.erasure_id, "forget", 60.0))[:most]
    for each in unsent:
        fields = {"command_id": each.command_id, "namespace": each.namespace, "erasure_id": erasure.erasure_id}
        command = Command(kind="forget", at=erasure.at, **fields)
        assert (await town.curator(town.policies).apply_command(command)).status == "accepted"
    return [each.namespace for each in unsent]


async def test_a_manually_deleted_memory_is_not_restored_by_a_replay(town: Town):
    await town.say("breakfast", PEANUTS)
    (memory,) = await town.memories.in_namespace(ADA)
    await town.command("delete", memory_id=memory.memory_id)
    generation = await town.replay(GENERATION, BOTH)
    assert fates(await town.diff(generation)) == {("withheld", "User is allergic to peanuts.")}
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == set()


async def test_erased_messages_are_not_replayed(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.pool.execute("CREATE TABLE backup AS SELECT * FROM messages")
    await town.command("purge")
    await town.pool.execute("INSERT INTO messages SELECT * FROM backup")
    generation = await town.replay(GENERATION, BOTH)
    assert (await town.generations.progress(GENERATION)).done == 1
    assert await town.diff(generation) == []
    assert "peanuts" not in str(await town.pool.fetch("SELECT answer FROM extractions"))


async def test_erasing_a_namespace_erases_its_replay_shadows(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    await town.say("lunch", SHORT, user="bob")
    await town.replay(GENERATION, BOTH)
    await town.command("purge")
    shadow = shadow_of(GENERATION, ADA)
    for table in ("memories", "memory_versions"):
        assert await town.pool.fetchval(f"SELECT count(*) FROM {table} WHERE namespace = $1", shadow) == 0
    assert await town.pool.fetchval("SELECT count(*) FROM extractions WHERE $1 = ANY (namespaces)", shadow) == 0
    assert await town.found(shadow, "User is allergic to peanuts.") == []
    assert await town.live(shadow_of(GENERATION, "kitchen/bob")) == {"User prefers short recipes."}
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == set()


async def test_messages_in_kafka_from_before_an_erasure_are_not_replayed_regardless_of_their_timestamps(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    said = await town.archive.conversation("breakfast")
    fence = Fence(SAID_FROM - timedelta(hours=1), {3: said[0].position + 1})
    async with town.pool.acquire() as connection:
        await Purges(connection).fence(ADA, fence)
    left = await town.generations.unerased([replace(each, feeds=(ADA,)) for each in said])
    assert [each.message.content for each in left] == [SHORT]
    generation = await town.replay(GENERATION, BOTH)
    assert await town.live(shadow_of(GENERATION, ADA)) == {"User prefers short recipes."}
    assert generation.plan.source == "archive"


async def test_erasing_a_conversation_also_erases_it_in_replay_shadows(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.say("lunch", SHORT)
    await town.replay(GENERATION, BOTH)
    erasures = Erasures(town.pool)
    erasure = Erasure(erasure_id="e1", kind="conversation", conversation_id="breakfast", at=town.now(), actor="ada")
    await erasures.begin(erasure)
    await erasures.plan("e1", [PlannedNamespace(ADA, "forget", "c1")])
    assert await forgotten(town, erasures, erasure) == [shadow_of(GENERATION, ADA)]
    assert await town.live(shadow_of(GENERATION, ADA)) == {"User prefers short recipes."}
    assert await forgotten(town, erasures, erasure) == [ADA]
    assert await forgotten(town, erasures, erasure) == []


async def test_a_cutover_during_an_erasure_restores_nothing_erased(town: Town):
    town.policies = PREFERENCES
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, BOTH)
    erasures = Erasures(town.pool)
    erasure = Erasure(erasure_id="e1", kind="conversation", conversation_id="breakfast", at=town.now(), actor="ada")
    await erasures.begin(erasure)
    await erasures.plan("e1", [PlannedNamespace(ADA, "forget", "c1")])
    await forgotten(town, erasures, erasure, most=1)
    await town.cutover.cut_over(GENERATION)
    while await forgotten(town, erasures, erasure):
        pass
    assert all(each.done_at for each in await erasures.namespaces("e1"))
    assert (await town.live(), await town.live(shadow_of(GENERATION, ADA))) == (set(), set())


async def test_a_replay_whose_generation_is_discarded_fails_with_a_message_and_leaves_nothing_after_erasure(
    town: Town, monkeypatch: pytest.MonkeyPatch
):
    await town.say("breakfast", PEANUTS)
    generation = town.generation(GENERATION, BOTH)
    replayer = town.replayer(generation, Asked())
    curate = replayer._curator.curate

    async def discarded_before(batch: CandidateBatch) -> None:
        await town.cutover.discard(GENERATION)  # as if nobody held it
        await curate(batch)

    monkeypatch.setattr(replayer._curator, "curate", discarded_before)
    await town.generations.begin(generation, await plan_conversations(town.generations, generation, replayer))
    with pytest.raises(Misconfigured, match="was discarded while"):
        await town.replay_rest(generation, replayer)
    assert await town.live(shadow_of(GENERATION, ADA)) == {"User is allergic to peanuts."}
    await town.command("purge")
    assert await town.live(shadow_of(GENERATION, ADA)) == set()
