"""Replay under other policies, beside live traffic."""

from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest

from agents.models.port import Answer, Context
from agents.models.prompts.questions import extraction_question
from agents.replay.conversations import plan_conversations
from agents.replay.namespace_comparison import differences
from deploy.settings import Settings
from deploy.wiring import replay
from deploy.wiring.replay import ReplayParts
from schemas.errors import Misconfigured
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.shadows import shadow_of
from tests.integration.replay.replaying import (
    ADA,
    BOTH,
    GENERATION,
    PEANUTS,
    PREFERENCES,
    SAID_FROM,
    SHELLFISH,
    SHORT,
    Asked,
    Town,
    fates,
    kitchen,
)


async def test_a_replay_publishes_nothing_about_its_shadow(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    published = len(town.publisher.records)
    generation = await town.replay(GENERATION, BOTH)
    assert await town.live(shadow_of(GENERATION, ADA)) == {
        "User is allergic to peanuts.",
        "User prefers short recipes.",
    }
    assert len(town.publisher.records) == published
    assert fates(await town.diff(generation)) == {
        ("same", "User is allergic to peanuts."),
        ("added", "User prefers short recipes."),
    }


async def test_forget_wishes_also_apply_in_a_replay(town: Town):
    await town.say("breakfast", PEANUTS, "I live in Berlin.")
    await town.say("lunch", "Please forget that I live in Berlin.")
    await town.say("supper", "Delete all your memories about me.")
    known = await town.live(ADA)
    published = len(town.publisher.records)

    await town.replay(GENERATION, BOTH)

    assert known == {"User is allergic to peanuts."}
    assert await town.live(shadow_of(GENERATION, ADA)) == known
    assert len(town.publisher.records) == published


async def test_changed_model_instructions_are_used_by_a_replay_and_stored_with_its_plan(town: Town):
    await town.say("breakfast", PEANUTS)
    generation = town.generation(GENERATION, kitchen(instructions="Keep dishes and what is in them.", version=7))
    prompts, provider = [], Asked()
    extract = provider.extract

    async def noting(request: ExtractionRequest, context: Context) -> Answer:
        prompts.append((request.policy_version, extraction_question(request, context).policy))
        return await extract(request, context)

    provider.extract = noting  # type: ignore[method-assign]
    replayer = town.replayer(generation, provider)
    await town.generations.begin(generation, await plan_conversations(town.generations, generation, replayer))
    await town.replay_rest(generation, replayer)
    ((version, prompt),) = prompts
    assert version == 7 and prompt.endswith("Keep dishes and what is in them.")
    stored = await town.generations.get(GENERATION)
    assert stored is not None and stored.plan.policies == generation.plan.policies


@pytest.mark.parametrize("of_bob_alone", [False, True])
async def test_a_group_conversation_is_replayed_into_the_shadow_of_each_person(town: Town, of_bob_alone: bool):
    await town.talk("dinner", ("ada", PEANUTS), ("bob", SHORT), ("bob", SHELLFISH))
    await town.replay(GENERATION, BOTH, **({"namespaces": "kitchen/bob"} if of_bob_alone else {}))
    adas, bobs = [await town.live(shadow_of(GENERATION, f"kitchen/{user}")) for user in ("ada", "bob")]
    assert adas == (set() if of_bob_alone else {"User is allergic to peanuts."})
    assert bobs == {"User prefers short recipes.", "User is allergic to shellfish."}


async def test_a_killed_replay_resumes_and_repeats_no_model_request(town: Town):
    for number, user in enumerate(("ada", "bob", "cleo", "ada")):
        await town.say(f"talk-{number}", PEANUTS, SHORT, user=user)
    generation = town.generation(GENERATION, BOTH)
    dying, rest = Asked(dies_at=3), Asked()
    replayer = town.replayer(generation, dying)
    await town.generations.begin(generation, await plan_conversations(town.generations, generation, replayer))
    with pytest.raises(RuntimeError, match="killed"):
        await town.replay_rest(generation, replayer)
    assert dying.requests
    await town.replay_rest(generation, town.replayer(generation, rest))
    requests = [*dying.requests, *rest.requests]
    assert len(requests) == len(set(requests)) == 4
    progress = await town.generations.progress(GENERATION)
    assert (progress.conversations, progress.done, progress.slices, progress.failed) == (4, 4, 4, 0)
    for user in ("ada", "bob", "cleo"):
        assert len(await town.live(shadow_of(GENERATION, f"kitchen/{user}"))) == 2


async def test_memories_of_messages_deleted_by_retention_are_kept_when_surrounding_messages_are_replayed(town: Town):
    town.policies = BOTH
    await town.say("breakfast", "Please answer briefly today.", PEANUTS, SHORT, "Good morning to you.")
    (at,) = [each.position for each in await town.archive.conversation("breakfast") if each.message.content == PEANUTS]
    await town.pool.execute("DELETE FROM messages WHERE position = $1", at)
    generation = await town.replay(GENERATION, BOTH)
    assert fates(await town.diff(generation)) == {
        ("kept", "User is allergic to peanuts."),
        ("same", "User prefers short recipes."),
    }
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == {"User is allergic to peanuts.", "User prefers short recipes."}


async def test_a_comparison_above_the_limit_is_rejected_on_either_side(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    (memory,) = await town.memories.in_namespace(ADA)
    await town.command("delete", memory_id=memory.memory_id)
    generation = await town.replay(GENERATION, BOTH)
    model = town.vectors.embedding_model
    assert len(await differences(town.pool, generation, ADA, model, at_most=2)) == 2
    with pytest.raises(Misconfigured, match="memstream diff 0a1b2c3d"):
        await differences(town.pool, generation, ADA, model, at_most=1)
    await town.command("create", text="Ada cooks on Sundays.")
    (made,) = await town.memories.in_namespace(ADA)
    await town.command("delete", memory_id=made.memory_id)
    await town.pool.execute("DELETE FROM memories WHERE text LIKE '%recipes%'")
    with pytest.raises(Misconfigured, match="more than 1 memories"):
        await differences(town.pool, generation, ADA, model, at_most=1)


async def test_replayed_messages_still_count_as_unextracted(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.pool.execute("DELETE FROM extractions")  # as if its window had not asked for it yet
    waiting = await town.archive.unextracted("breakfast", town.now())
    await town.replay(GENERATION, BOTH)
    assert [said.content for said in waiting] == [PEANUTS]
    assert await town.archive.unextracted("breakfast", town.now()) == waiting


async def test_only_messages_within_the_time_range_are_replayed_and_other_memories_are_kept(town: Town):
    town.policies = BOTH
    await town.say("breakfast", PEANUTS, SHORT, SHELLFISH)  # a minute each
    second, third = (SAID_FROM + timedelta(minutes=minute) for minute in (2, 3))
    generation = await town.replay(GENERATION, BOTH, since=second, until=third)
    assert await town.live(shadow_of(GENERATION, ADA)) == {"User prefers short recipes."}
    assert fates(await town.diff(generation)) == {
        ("kept", "User is allergic to peanuts."),
        ("same", "User prefers short recipes."),
        ("kept", "User is allergic to shellfish."),
    }


async def test_only_messages_feeding_the_selected_namespaces_are_replayed(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.say("lunch", SHORT, user="bob")
    generation = await town.replay(GENERATION, BOTH, namespaces="kitchen/b*")
    assert await town.generations.progress(GENERATION) is not None
    assert await town.live(shadow_of(GENERATION, ADA)) == set()
    assert fates(await town.diff(generation, "kitchen/bob")) == {("added", "User prefers short recipes.")}


async def test_a_generation_being_replayed_cannot_be_discarded(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.replay(GENERATION, BOTH)
    async with town.generations.held(GENERATION):
        with pytest.raises(Misconfigured, match="by another process"):
            await town.cutover.discard(GENERATION)
    assert await town.cutover.discard(GENERATION) == 1


async def test_resuming_a_replay_rechecks_the_status_of_its_generation(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    generation = await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    provider = Asked()
    fields: Any = (Settings(), town.pool, town.embedder, town.vectors, town.publisher, town.projector, AsyncExitStack())
    with pytest.raises(Misconfigured, match="is cutover: it can no longer be replayed"):
        await replay.replay(ReplayParts(*fields), generation, town.replayer(generation, provider), lambda: None)
    assert provider.requests == []


async def test_a_replay_completes_after_the_database_session_holding_its_lock_is_lost(town: Town):
    await town.say("breakfast", PEANUTS)
    generation = town.generation(GENERATION, BOTH)
    replayer = town.replayer(generation, Asked())
    await town.generations.begin(generation, await plan_conversations(town.generations, generation, replayer))
    async with town.generations.held(GENERATION):
        await town.pool.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        )
        await town.replay_rest(generation, replayer)
    async with town.generations.held(GENERATION):
        assert await town.live(shadow_of(GENERATION, ADA)) == {"User is allergic to peanuts."}


async def test_namespaces_no_longer_fed_by_the_new_policy_are_compared_too(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    moved = kitchen(taxonomy=("fact", "preference"), namespaces=("cooks/{user_id}",))
    generation = await town.replay(GENERATION, moved)
    assert fates(await town.diff(generation)) == {("lost", "User is allergic to peanuts.")}
    assert fates(await town.diff(generation, "cooks/ada")) == {
        ("added", "User is allergic to peanuts."),
        ("added", "User prefers short recipes."),
    }
    assert (await town.cutover.cut_over(GENERATION)).namespaces == 2
    assert (await town.live(), len(await town.live("cooks/ada"))) == (set(), 2)
    await town.cutover.undo(GENERATION)
    assert (len(await town.live()), await town.live("cooks/ada")) == (1, set())
