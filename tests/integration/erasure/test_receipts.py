"""Erasures of shared data on a real database, and receipts that wait for windows."""

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from agents.erasure import complete
from schemas.codec import decode
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.erasure.erasures import Erasure, Fence
from schemas.extraction.candidates import Source
from schemas.kafka import topics
from schemas.memories.commands import Command
from schemas.policies.shadows import shadow_of
from sinks.access.audit import Audit
from sinks.archive.messages import Archive
from sinks.erasure.erasures import Erasures
from sinks.erasure.owners import Owners
from sinks.windows.user_settings import UserSettings
from tests.integration.curation_bench import NOON
from tests.integration.erasure.eraser import AT, LATER, Worker, of, said

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def shared_memory(bench: "Bench", text: str, sources: tuple[Source, ...], namespace: str = "notes") -> str:
    outcome = await bench.curator.curate(bench.batch(bench.candidate(text, sources=sources), namespace=namespace))
    return outcome.rulings[0].memory_id or ""


async def test_memories_only_from_the_erased_user_are_deleted_and_shared_ones_are_counted(
    bench: "Bench", worker: Worker
):
    await Archive(bench.pool).store([said("mara", "m"), said("anna", "a")])
    own = await shared_memory(bench, "Mara skis", of("m"))
    both = await shared_memory(bench, "They sail", of("m", "a"))
    later = await shared_memory(bench, "Mara is back", of("m", at=LATER))
    theirs = await shared_memory(bench, "Anna sings", of("a"))
    await worker.erasing.begin("e", "user", "ada", "as asked", user_id="mara")
    receipt = await worker.through("e", "m")
    left = {row["memory_id"] for row in await bench.pool.fetch("SELECT memory_id FROM memories")}
    assert left == {both, later, theirs}
    assert own not in left
    (shared,) = [each for each in receipt.namespaces if each.namespace == "notes"]
    assert (shared.how, shared.memories, shared.kept) == ("forget", 1, 1)
    assert await Archive(bench.pool).conversation("m") == ()
    assert len(await Archive(bench.pool).conversation("a")) == 1
    assert (receipt.status, receipt.remains[0].topic, receipt.reason) == ("complete", "chat.messages", "as asked")
    stores = {each.store: each.removed for each in receipt.stores}
    assert stores["Kafka, memory.dead-letters"] == {"letters": 3}
    assert stores["PostgreSQL, conversations"]["messages"] == 1
    assert worker.dead_letters.erased == [(frozenset({"m"}), frozenset({"notes/mara"}))]


async def test_a_deleted_memory_of_the_erased_user_cannot_be_restored(bench: "Bench", worker: Worker):
    """Its versions keep the text, in a namespace that others share, too."""
    await Archive(bench.pool).store([said("mara", "m"), said("anna", "a")])
    own = await shared_memory(bench, "Mara skis", of("m"))
    both = await shared_memory(bench, "They sail", of("m", "a"))
    theirs = await shared_memory(bench, "Anna sings", of("a"))
    for number, memory_id in enumerate((own, both, theirs)):
        deletion = Command(command_id=f"d{number}", kind="delete", namespace="notes", at=NOON, memory_id=memory_id)
        assert (await worker.curator.apply_command(deletion)).change == "deleted"
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    receipt = await worker.through("e", "m")
    versions = await bench.pool.fetch("SELECT DISTINCT memory_id FROM memory_versions WHERE namespace = 'notes'")
    assert {row["memory_id"] for row in versions} == {both, theirs}
    (shared,) = [each for each in receipt.namespaces if each.namespace == "notes"]
    assert (shared.memories, shared.kept) == (1, 1), (
        "what others told as well is counted, also if it was deleted before"
    )


@pytest.mark.parametrize("subject", [{"user_id": "mara"}, {"conversation_id": "m"}, {"namespace": "notes/mara"}])
async def test_the_receipt_counts_passages_and_waits_until_their_qdrant_points_are_deleted(
    bench: "Bench", worker: Worker, subject: dict[str, str]
):
    await Archive(bench.pool).store([said("mara", "m"), said("anna", "a")])
    await bench.pool.execute(
        "INSERT INTO passages "
        "(passage_id, namespace, conversation_id, message_id, piece, ordinal, said_at, speaker, terms) "
        "SELECT gen_random_uuid(), 'notes/' || user_id, conversation_id, message_id, 0, 0, said_at, user_id, '{1}' "
        "FROM messages"
    )
    kind = next(iter(subject)).removesuffix("_id")
    await worker.erasing.begin("e", kind, "ada", **subject)  # type: ignore[arg-type]
    assert (await worker.through("e", "m")).status == "pending"
    left = await bench.pool.fetch("SELECT namespace FROM passages")
    assert [row["namespace"] for row in left] == ["notes/anna"]
    await bench.pool.execute("DELETE FROM passage_removals")  # as the passages stage does once Qdrant has removed them
    await worker.run_once()
    receipt = await worker.erasing.receipt("e")
    assert receipt is not None and receipt.status == "complete"
    removed = {each.store: each.removed for each in receipt.stores}
    assert removed["passages, in PostgreSQL and Qdrant"] == {"passages": 1}


async def test_erasure_includes_replay_shadows_of_shared_namespaces(bench: "Bench", worker: Worker):
    await Archive(bench.pool).store([said("mara", "m")])
    for namespace in ("notes", shadow_of("0a1b2c3d", "notes")):
        await shared_memory(bench, "Mara skis", of("m"), namespace)
        await shared_memory(bench, "Anna sings", of("a"), namespace)
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    receipt = await worker.through("e", "m")
    texts = await bench.pool.fetch("SELECT DISTINCT text FROM memories")
    assert (receipt.status, [row["text"] for row in texts]) == ("complete", ["Anna sings"])
    assert receipt.stores[0].removed == {"memories": 1, "versions": 1}
    assert {each.namespace for each in receipt.namespaces} >= {"notes", "notes/mara"}
    assert not any("~" in each.namespace for each in receipt.namespaces)


async def test_a_receipt_is_complete_once_all_window_owners_have_answered(bench: "Bench", worker: Worker):
    await worker.erasing.begin("e", "conversation", "ada", conversation_id="c")
    for _ in range(2):
        await worker.run_once()
    await worker.erasures.answer("e", 0, ["c"], 4, AT)
    ((partition, erasure),) = await worker.erasures.unanswered([0, 1])
    assert await worker.erasures.answered([0, 1]) == {0: AT}
    assert (partition, erasure.fence) == (1, Fence(AT, worker.ends))
    await worker.run_once()
    pending = await worker.erasing.receipt("e")
    assert pending is not None
    assert (pending.status, worker.dead_letters.erased) == ("pending", [])
    await worker.erasures.answer("e", 1, [], 0, AT)
    for _ in range(3):
        await worker.run_once()
    receipt = await worker.erasing.receipt("e")
    assert receipt is not None
    assert (receipt.status, receipt.completed_at) == ("complete", AT)
    windows = next(each for each in receipt.stores if each.store.startswith("windows"))
    assert windows.removed == {"windows": 1, "window_messages": 4}


async def test_conversations_known_only_to_window_owners_are_erased(bench: "Bench", worker: Worker):
    memory_id = await shared_memory(bench, "Mara skis", of("unarchived"))
    await bench.pool.execute("UPDATE extractions SET conversation_id = 'unarchived'")
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    await worker.through("e", "unarchived")
    assert await bench.memories.get(memory_id) is None


async def test_a_purge_from_any_kafka_client_is_audited_and_has_a_receipt(bench: "Bench", worker: Worker):
    command = Command(command_id="p", kind="purge", namespace="notes/mara", at=NOON, actor="a service")
    await worker.curator.apply_command(command)
    (row,) = await Audit(bench.pool).latest(5)
    assert (row.actor, row.action, row.subject) == ("a service", "namespace.erase", "notes/mara")
    (name,) = [row["erasure_id"] for row in await bench.pool.fetch("SELECT erasure_id FROM erasures")]
    receipt = await worker.through(name)
    assert (receipt.status, receipt.subject) == ("complete", {"namespace": "notes/mara"})
    assert worker.dead_letters.erased == [(frozenset(), frozenset({"notes/mara"}))]


async def test_erasing_a_namespace_deletes_its_memories_and_completes_the_receipt(bench: "Bench", worker: Worker):
    await bench.curator.curate(bench.batch("User has a dog", namespace="notes/mara"))
    await worker.erasing.begin("e", "namespace", "ada", namespace="notes/mara")
    receipt = await worker.through("e")
    assert (receipt.status, receipt.namespaces[0].memories) == ("complete", 1)
    assert await bench.memories.count_live("notes/mara") == 0


async def test_a_purge_for_an_erasure_lost_with_the_database_is_still_completed(bench: "Bench", worker: Worker):
    await bench.curator.curate(bench.batch("User has a dog", namespace="notes/mara"))
    command = Command(command_id="p", kind="purge", namespace="notes/mara", at=AT, actor="ada", erasure_id="lost")
    await worker.curator.apply_command(command)
    receipt = await worker.through("lost")
    assert (receipt.status, receipt.at, receipt.namespaces[0].memories) == ("complete", AT, 1)


async def test_a_forget_command_for_an_unknown_erasure_is_rejected(bench: "Bench", worker: Worker):
    memory = await bench.remember("Mara skis", sources=of("m"))
    command = Command(command_id="f", kind="forget", namespace="n", at=AT, erasure_id="unknown")
    assert (await worker.curator.apply_command(command)).status == "rejected"
    assert await bench.memories.get(memory.memory_id) == memory


async def test_erasure_commands_are_sent_again_with_the_same_ids_after_a_worker_died(bench: "Bench", worker: Worker):
    await Archive(bench.pool).store([said("mara", "m")])
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    await worker.completing.tick()
    first = [decode(record.value, Command) for record in worker.publisher.on(topics.COMMANDS)]
    assert {each.namespace for each in first} == {"notes/mara"}
    assert (await worker.run_once()) == [], "they are on their way"
    await bench.pool.execute("UPDATE erased_namespaces SET sent_at = sent_at - interval '2 minutes'")
    assert [each.command_id for each in await worker.run_once()] == [each.command_id for each in first]


async def test_an_erasure_keeps_its_lease_while_removing_dead_letters_takes_longer_than_the_lease(
    bench: "Bench", worker: Worker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(complete, "LEASE_S", 2.0)
    other = Worker(bench)

    async def take() -> None:
        claimed_until = await bench.pool.fetchval("SELECT lease_until FROM erasures")
        await bench.pool.execute("SELECT pg_sleep_until($1::timestamptz + interval '100 ms')", claimed_until)
        await other.completing.tick()

    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    await worker.run_once()
    await worker.answer("e")
    worker.dead_letters.take = take
    await worker.run_once()
    assert (len(worker.dead_letters.erased), other.dead_letters.erased) == (1, [])


async def test_the_newest_fence_has_the_furthest_positions_of_concurrent_erasures(bench: "Bench") -> None:
    erasures = Erasures(bench.pool)
    assert await erasures.newest() is None
    for name, at, positions in (("e1", AT, {0: 7, 1: 9}), ("e2", LATER, {0: 8, 1: 5})):
        erasure = Erasure(erasure_id=name, kind="user", user_id=name, at=at, actor="ada", positions=positions)
        await erasures.begin(erasure)
    assert await erasures.newest() == Fence(LATER, {0: 8, 1: 9})


async def test_the_poll_interval_of_a_pending_erasure_grows_to_five_seconds(bench: "Bench", worker: Worker):
    pauses: list[float] = []
    release = worker.erasures.release

    async def released(name: str, pause_s: float) -> None:
        pauses.append(pause_s)
        await release(name, pause_s)

    worker.erasures.release = released  # type: ignore[method-assign]
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    for waited_s in (0, 20, 7_200):
        worker.completing._clock = lambda now=AT + timedelta(seconds=waited_s): now  # type: ignore[misc]
        await worker.run_once()
    assert pauses == [0.1, 1.0, 5.0]


async def test_user_settings_are_erased_counted_and_not_restored_by_older_events(bench: "Bench", worker: Worker):
    kept, mara, few = UserSettings(bench.pool), User(user_id="mara", app_id="notes"), WindowChoice(max_messages=30)
    anna = User(user_id="anna", app_id="notes")
    for user in (mara, anna):
        await kept.choose(user, few, NOON - timedelta(days=1))
    assert (await Owners(bench.pool).archived_counts(User(user_id="mara")))["settings"] == 1
    await worker.erasing.begin("e", "user", "ada", "as asked", user_id="mara")
    assert await kept.chosen_by([mara, anna]) == {anna: few}
    receipt = await worker.through("e", "m")
    stores = {each.store: each.removed for each in receipt.stores}
    assert stores["PostgreSQL, conversations"]["user_settings"] == 1
    assert await bench.pool.fetchval("SELECT count(*) FROM user_settings") == 1
    assert not await kept.choose(mara, few, NOON - timedelta(hours=1))
    assert await kept.choose(mara, few, AT + timedelta(days=900))
