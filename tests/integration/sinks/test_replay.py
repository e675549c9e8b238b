"""Remembering again by other policies, beside live traffic: what differs, switching to it, and back."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from msgspec.structs import replace
from qdrant_client import AsyncQdrantClient

from agents.replay.origins import planned
from agents.replay.sides import differences
from deploy import replaying
from deploy.embedded.stack import EmbeddedStack
from deploy.replaying import Parts
from deploy.settings import Settings
from schemas import codec, topics
from schemas.erasures import Erasure, Fence
from schemas.errors import Misconfigured, Retryable
from schemas.events import MemoryEvent
from schemas.requests import CandidateBatch, Command
from schemas.shadows import shadow_of
from sinks.embeddings.fake import FakeEmbedder
from sinks.erasures import Erasures, Planned
from sinks.generations import Switched
from sinks.postgres import Pool
from sinks.purges import Purges
from sinks.qdrant import Vectors
from tests.integration.sinks.replaying import ADA, BOTH, PREFERENCES, SAID_FROM, Asked, Town, kitchen, told

PEANUTS, SHORT, SHELLFISH = "I'm allergic to peanuts.", "I prefer short recipes.", "I'm allergic to shellfish."
GENERATION = "0a1b2c3d"


@pytest.fixture
async def vectors(embedded_stack: EmbeddedStack) -> AsyncIterator[Vectors]:
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    embedder = FakeEmbedder()
    made = Vectors(
        client, dimension=embedder.dimension, embedding_model=embedder.model, collection=f"replay-{uuid4().hex}"
    )
    await made.ensure_collection()
    yield made
    await made.drop_collection()
    await client.close()


@pytest.fixture
def town(pool: Pool, vectors: Vectors) -> Town:
    return Town(pool, vectors)


async def test_another_policy_is_seen_switched_to_and_taken_back_while_live_traffic_goes_on(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    by_hand = await town.command("create", text="Ada cooks on Sundays.", importance=0.5)
    before = await town.live()
    assert before == {"User is allergic to peanuts.", "Ada cooks on Sundays."}

    generation = await town.replay(GENERATION, PREFERENCES)
    await town.say("dinner", SHELLFISH)
    published = len(town.publisher.records)
    assert told(await town.diff(generation)) == {
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


async def test_every_change_of_a_cutover_is_told_once_in_the_order_of_the_namespace(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    await town.cutover.undo(GENERATION)
    events = [codec.decode(record.value, MemoryEvent) for record in town.publisher.on(topics.EVENTS)]
    assert [event.data.sequence for event in events] == [1, 2, 3, 4, 5]
    assert [event.data.change for event in events][1:] == ["deleted", "created", "restored", "deleted"]
    assert {event.data.namespace for event in events} == {ADA}
    assert events[1].data.cause.reason == f"cutover to generation {GENERATION}"


async def test_nothing_of_a_shadow_is_told_to_anybody(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    published = len(town.publisher.records)
    generation = await town.replay(GENERATION, BOTH)
    assert await town.live(shadow_of(GENERATION, ADA)) == {
        "User is allergic to peanuts.",
        "User prefers short recipes.",
    }
    assert len(town.publisher.records) == published
    assert told(await town.diff(generation)) == {
        ("same", "User is allergic to peanuts."),
        ("added", "User prefers short recipes."),
    }


async def test_a_replay_that_is_killed_goes_on_and_asks_no_model_twice(town: Town):
    for number, user in enumerate(("ada", "bob", "cleo", "ada")):
        await town.say(f"talk-{number}", PEANUTS, SHORT, user=user)
    generation = town.generation(GENERATION, BOTH)
    dying, rest = Asked(dies_at=3), Asked()
    replayer = town.replayer(generation, dying)
    await town.generations.begin(generation, await planned(town.generations, generation, replayer))
    with pytest.raises(RuntimeError, match="killed"):
        await town.replay_rest(generation, replayer)
    assert dying.requests
    await town.replay_rest(generation, town.replayer(generation, rest))
    asked = [*dying.requests, *rest.requests]
    assert len(asked) == len(set(asked)) == 4
    progress = await town.generations.progress(GENERATION)
    assert (progress.conversations, progress.done, progress.slices, progress.failed) == (4, 4, 4, 0)
    for user in ("ada", "bob", "cleo"):
        assert len(await town.live(shadow_of(GENERATION, f"kitchen/{user}"))) == 2


async def test_a_cutover_that_fails_half_way_has_switched_nothing_and_can_be_tried_again(town: Town):
    for user in ("ada", "bob"):
        await town.say(f"talk-{user}", PEANUTS, SHORT, user=user)
    await town.replay(GENERATION, PREFERENCES)
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


async def test_more_namespaces_than_switch_at_once_all_switch_and_come_back(town: Town):
    users = ("ada", "bob", "cleo", "dan")
    for user in users:
        await town.say(f"talk-{user}", PEANUTS, SHORT, user=user)
    await town.replay(GENERATION, PREFERENCES)
    few = town.cutover_of(at_once=2)
    assert (await few.cut_over(GENERATION)).namespaces == 4
    assert [await town.live(f"kitchen/{user}") for user in users] == [{"User prefers short recipes."}] * 4
    assert (await few.cut_over(GENERATION)).changes == 0, "all of it is switched already"
    assert (await few.undo(GENERATION)).namespaces == 4
    assert [await town.live(f"kitchen/{user}") for user in users] == [{"User is allergic to peanuts."}] * 4


async def test_a_cutover_that_is_taken_back_between_two_of_its_transactions_goes_no_further(town: Town):
    for user in ("ada", "bob"):
        await town.say(f"talk-{user}", PEANUTS, SHORT, user=user)
    await town.replay(GENERATION, PREFERENCES)
    few = town.cutover_of(at_once=1)
    projected = few._project

    async def taken_back(page: Sequence[Switched]) -> None:
        await projected(page)
        await town.cutover.undo(GENERATION)

    few._project = taken_back  # type: ignore[method-assign]
    with pytest.raises(Misconfigured, match="is undone"):
        await few.cut_over(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}


async def test_an_undoing_amid_which_a_cutover_begins_goes_no_further_and_leaves_nothing_half_switched(town: Town):
    for user in ("ada", "bob"):
        await town.say(f"talk-{user}", PEANUTS, SHORT, user=user)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    few = town.cutover_of(at_once=1)
    projected = few._project

    async def cut_over_again(page: Sequence[Switched]) -> None:
        await projected(page)
        await town.cutover.cut_over(GENERATION)

    few._project = cut_over_again  # type: ignore[method-assign]
    with pytest.raises(Misconfigured, match="is cutover, and would have to be undone"):
        await few.undo(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User prefers short recipes."}
    await town.cutover.undo(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}


async def test_a_cutover_that_an_undoing_has_overtaken_only_in_part_goes_no_further(town: Town):
    users = ("ada", "bob", "cleo")
    for user in users:
        await town.say(f"talk-{user}", PEANUTS, SHORT, user=user)
    await town.replay(GENERATION, PREFERENCES)
    slow, fast = town.cutover_of(at_once=1), town.cutover_of(at_once=1)
    slow_projected, fast_projected = slow._project, fast._project

    async def dies(page: Sequence[Switched]) -> None:
        await fast_projected(page)
        raise Retryable("killed")

    async def taken_back_in_part(page: Sequence[Switched]) -> None:
        await slow_projected(page)
        with pytest.raises(Retryable, match="killed"):
            await fast.undo(GENERATION)

    slow._project, fast._project = taken_back_in_part, dies  # type: ignore[method-assign]
    with pytest.raises(Misconfigured, match="is undone"):
        await slow.cut_over(GENERATION)
    for user in users:
        assert await town.live(f"kitchen/{user}") == {"User is allergic to peanuts."}


async def test_an_undoing_that_was_interrupted_is_brought_to_its_end_by_another(town: Town):
    for user in ("ada", "bob"):
        await town.say(f"talk-{user}", PEANUTS, SHORT, user=user)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    few = town.cutover_of(at_once=1)
    projected = few._project

    async def dies(page: Sequence[Switched]) -> None:
        await projected(page)
        raise Retryable("killed")

    few._project = dies  # type: ignore[method-assign]
    with pytest.raises(Retryable, match="killed"):
        await few.undo(GENERATION)
    assert await town.live("kitchen/bob") == {"User prefers short recipes."}
    assert (await town.cutover.undo(GENERATION)).namespaces == 1
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}
    with pytest.raises(Misconfigured, match="is undone, and would have to be cutover"):
        await town.cutover.undo(GENERATION)


async def test_live_decisions_and_cutovers_of_several_namespaces_wait_for_each_other_and_nobody_for_ever(town: Town):
    users = ("ada", "bob", "cleo")
    for user in users:
        await town.say(f"talk-{user}", PEANUTS, SHORT, user=user)
    await town.replay(GENERATION, PREFERENCES)

    async def switch() -> None:
        for _ in range(3):
            await town.cutover.cut_over(GENERATION)
            await town.cutover.undo(GENERATION)

    async with asyncio.timeout(60):
        talking = (town.say(f"more-{n}", SHELLFISH, user=users[n % 3]) for n in range(9))
        await asyncio.gather(switch(), *talking)
    for user in users:
        assert await town.live(f"kitchen/{user}") == {"User is allergic to peanuts.", "User is allergic to shellfish."}


async def test_what_somebody_took_away_does_not_come_back(town: Town):
    await town.say("breakfast", PEANUTS)
    (memory,) = await town.memories.in_namespace(ADA)
    await town.command("delete", memory_id=memory.memory_id)
    generation = await town.replay(GENERATION, BOTH)
    assert told(await town.diff(generation)) == {("withheld", "User is allergic to peanuts.")}
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == set()


async def test_what_came_of_messages_that_retention_deleted_stays_though_the_rest_around_them_is_replayed(town: Town):
    town.policies = BOTH
    await town.say("breakfast", "Please answer briefly today.", PEANUTS, SHORT, "Good morning to you.")
    (at,) = [each.position for each in await town.archive.conversation("breakfast") if each.message.content == PEANUTS]
    await town.pool.execute("DELETE FROM messages WHERE position = $1", at)
    generation = await town.replay(GENERATION, BOTH)
    assert told(await town.diff(generation)) == {
        ("kept", "User is allergic to peanuts."),
        ("same", "User prefers short recipes."),
    }
    await town.cutover.cut_over(GENERATION)
    assert await town.live() == {"User is allergic to peanuts.", "User prefers short recipes."}


async def test_more_than_may_be_compared_is_refused_whichever_side_it_is_on(town: Town):
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


async def test_what_was_changed_since_a_cutover_stays_when_it_is_undone(town: Town):
    await town.say("breakfast", SHORT)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    (memory,) = await town.memories.in_namespace(ADA)
    await town.command("update", memory_id=memory.memory_id, text="Ada prefers very short recipes.")
    undone = await town.cutover.undo(GENERATION)
    assert (undone.changes, undone.left) == (0, 1)
    assert await town.live() == {"Ada prefers very short recipes."}


async def test_what_was_erased_is_not_replayed(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.pool.execute("CREATE TABLE backup AS SELECT * FROM messages")
    await town.command("purge")
    await town.pool.execute("INSERT INTO messages SELECT * FROM backup")
    generation = await town.replay(GENERATION, BOTH)
    assert (await town.generations.progress(GENERATION)).done == 1
    assert await town.diff(generation) == []
    assert "peanuts" not in str(await town.pool.fetch("SELECT answer FROM extractions"))


async def test_erasing_a_namespace_erases_what_replays_made_of_it(town: Town):
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


async def test_what_is_only_replayed_still_waits_to_be_extracted(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.pool.execute("DELETE FROM extractions")  # as if its window had not asked for it yet
    waiting = await town.archive.unextracted("breakfast", town.now())
    await town.replay(GENERATION, BOTH)
    assert [said.content for said in waiting] == [PEANUTS]
    assert await town.archive.unextracted("breakfast", town.now()) == waiting


async def test_what_kafka_still_holds_of_before_an_erasure_is_not_replayed_whatever_a_senders_clock_said(town: Town):
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


async def test_forgetting_a_conversation_forgets_it_in_shadows_too(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.say("lunch", SHORT)
    await town.replay(GENERATION, BOTH)
    erasures = Erasures(town.pool)
    erasure = Erasure(erasure_id="e1", kind="conversation", conversation_id="breakfast", at=town.now(), actor="ada")
    await erasures.begin(erasure)
    await erasures.plan("e1", [Planned(ADA, "forget", "c1")])
    assert await forgotten(town, erasures, erasure) == [shadow_of(GENERATION, ADA)]
    assert await town.live(shadow_of(GENERATION, ADA)) == {"User prefers short recipes."}
    assert await forgotten(town, erasures, erasure) == [ADA]
    assert await forgotten(town, erasures, erasure) == []


async def test_a_cutover_amid_an_erasure_brings_back_nothing_that_is_erased(town: Town):
    town.policies = PREFERENCES
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, BOTH)
    erasures = Erasures(town.pool)
    erasure = Erasure(erasure_id="e1", kind="conversation", conversation_id="breakfast", at=town.now(), actor="ada")
    await erasures.begin(erasure)
    await erasures.plan("e1", [Planned(ADA, "forget", "c1")])
    await forgotten(town, erasures, erasure, most=1)
    await town.cutover.cut_over(GENERATION)
    while await forgotten(town, erasures, erasure):
        pass
    assert all(each.done_at for each in await erasures.namespaces("e1"))
    assert (await town.live(), await town.live(shadow_of(GENERATION, ADA))) == (set(), set())


async def forgotten(town: Town, erasures: Erasures, erasure: Erasure, most: int | None = None) -> list[str]:
    """Where one turn of an erasure forgets."""
    unsent = (await erasures.unsent(erasure.erasure_id, "forget", 60.0))[:most]
    for each in unsent:
        fields = {"command_id": each.command_id, "namespace": each.namespace, "erasure_id": erasure.erasure_id}
        command = Command(kind="forget", at=erasure.at, **fields)
        assert (await town.curator(town.policies).carry_out(command)).status == "accepted"
    return [each.namespace for each in unsent]


async def test_of_a_conversation_only_what_was_said_in_the_time_is_replayed_and_the_rest_stays(town: Town):
    town.policies = BOTH
    await town.say("breakfast", PEANUTS, SHORT, SHELLFISH)  # a minute each
    second, third = (SAID_FROM + timedelta(minutes=minute) for minute in (2, 3))
    generation = await town.replay(GENERATION, BOTH, since=second, until=third)
    assert await town.live(shadow_of(GENERATION, ADA)) == {"User prefers short recipes."}
    assert told(await town.diff(generation)) == {
        ("kept", "User is allergic to peanuts."),
        ("same", "User prefers short recipes."),
        ("kept", "User is allergic to shellfish."),
    }


async def test_only_what_feeds_the_namespaces_is_replayed(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.say("lunch", SHORT, user="bob")
    generation = await town.replay(GENERATION, BOTH, namespaces="kitchen/b*")
    assert await town.generations.progress(GENERATION) is not None
    assert await town.live(shadow_of(GENERATION, ADA)) == set()
    assert told(await town.diff(generation, "kitchen/bob")) == {("added", "User prefers short recipes.")}


async def test_what_is_being_replayed_is_not_discarded_meanwhile(town: Town):
    await town.say("breakfast", PEANUTS)
    await town.replay(GENERATION, BOTH)
    async with town.generations.held(GENERATION):
        with pytest.raises(Misconfigured, match="by somebody else"):
            await town.cutover.discard(GENERATION)
    assert await town.cutover.discard(GENERATION) == 1


async def test_a_replay_that_ends_after_another_ended_it_does_not_undo_what_became_of_it(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    with pytest.raises(Misconfigured, match="not being built"):
        await town.generations.ready(GENERATION, town.now())
    await town.cutover.undo(GENERATION)
    assert await town.live() == {"User is allergic to peanuts."}


async def test_who_resumes_looks_again_at_what_became_of_it_once_nobody_else_has_it(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    generation = await town.replay(GENERATION, PREFERENCES)
    await town.cutover.cut_over(GENERATION)
    asked = Asked()
    fields: Any = (Settings(), town.pool, town.embedder, town.vectors, town.publisher, town.projector, AsyncExitStack())
    with pytest.raises(Misconfigured, match="is cutover: nothing of it is left"):
        await replaying.replay(Parts(*fields), generation, town.replayer(generation, asked), lambda: None)
    assert asked.requests == []


async def test_a_replay_is_complete_though_the_session_that_held_it_is_lost(town: Town):
    await town.say("breakfast", PEANUTS)
    generation = town.generation(GENERATION, BOTH)
    replayer = town.replayer(generation, Asked())
    await town.generations.begin(generation, await planned(town.generations, generation, replayer))
    async with town.generations.held(GENERATION):
        await town.pool.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        )
        await town.replay_rest(generation, replayer)
    async with town.generations.held(GENERATION):
        assert await town.live(shadow_of(GENERATION, ADA)) == {"User is allergic to peanuts."}


async def test_what_is_discarded_while_it_is_replayed_ends_in_a_word_and_is_erased_with_its_namespace(
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
    await town.generations.begin(generation, await planned(town.generations, generation, replayer))
    with pytest.raises(Misconfigured, match="was discarded while"):
        await town.replay_rest(generation, replayer)
    assert await town.live(shadow_of(GENERATION, ADA)) == {"User is allergic to peanuts."}
    await town.command("purge")
    assert await town.live(shadow_of(GENERATION, ADA)) == set()


async def test_where_a_policy_feeds_other_namespaces_now_what_the_old_ones_held_is_compared_too(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    moved = kitchen(taxonomy=("fact", "preference"), namespaces=("cooks/{user_id}",))
    generation = await town.replay(GENERATION, moved)
    assert told(await town.diff(generation)) == {("lost", "User is allergic to peanuts.")}
    assert told(await town.diff(generation, "cooks/ada")) == {
        ("added", "User is allergic to peanuts."),
        ("added", "User prefers short recipes."),
    }
    assert (await town.cutover.cut_over(GENERATION)).namespaces == 2
    assert (await town.live(), len(await town.live("cooks/ada"))) == (set(), 2)
    await town.cutover.undo(GENERATION)
    assert (len(await town.live()), await town.live("cooks/ada")) == (1, set())


async def test_a_discarded_generation_leaves_nothing_and_cannot_be_switched(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    before = await town.live()
    await town.replay(GENERATION, PREFERENCES)
    shadow = shadow_of(GENERATION, ADA)
    assert await town.cutover.discard(GENERATION) == 1
    tables = ("memories", "memory_versions", "namespaces")
    counts = [await town.pool.fetchval(f"SELECT count(*) FROM {each} WHERE namespace = $1", shadow) for each in tables]
    answers = await town.pool.fetchval("SELECT count(*) FROM extractions WHERE namespaces && ARRAY[$1]", shadow)
    assert (*counts, answers) == (0, 0, 0, 0)
    assert await town.found(shadow, "User prefers short recipes.") == []
    assert await town.live() == before
    with pytest.raises(Misconfigured, match="no generation"):
        await town.cutover.cut_over(GENERATION)
