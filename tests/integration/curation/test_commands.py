from datetime import timedelta
from typing import TYPE_CHECKING, Any

from schemas.kafka import topics
from schemas.memories.commands import Command
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


def command(bench: "Bench", kind: Any, command_id: str = "x", **fields: Any) -> Command:
    return Command(**({"namespace": "n", "actor": "anna"} | fields), command_id=command_id, kind=kind, at=bench.now())


async def test_a_command_creates_a_memory(bench: "Bench") -> None:
    order = command(bench, "create", text="User has a dog", importance=0.9, memory_kind="pet", told_by=("ada",))
    outcome = await bench.curator.apply_command(order)
    memory = await bench.memories.get(outcome.memory_id or "")
    assert memory is not None
    assert (memory.text, memory.importance, memory.kind, memory.created_by) == ("User has a dog", 0.9, "pet", "anna")
    assert memory.told_by == bench.events()[0].data.memory.told_by == ("ada",)
    assert memory.memory_id in bench.vectors.points
    (activity,) = bench.activity()
    assert (activity.type, activity.data["command_id"]) == ("memstream.command.accepted", "x")


async def test_a_memory_row_from_an_earlier_version_has_no_speakers(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    await bench.pool.execute("UPDATE memories SET told_by = NULL")
    again = await bench.memories.get(memory.memory_id)
    assert again is not None and again.told_by == ()


async def test_a_redelivered_command_is_applied_once(bench: "Bench") -> None:
    order = command(bench, "create", text="User has a dog")
    first = await bench.curator.apply_command(order)
    again = await bench.curator.apply_command(order)
    assert (again.repeated, again.memory_id) == (True, first.memory_id)
    assert len(bench.events()) == 1


async def test_the_digest_of_a_command_is_kept_with_its_outcome(bench: "Bench") -> None:
    first = await bench.curator.apply_command(command(bench, "create", text="User has a dog", digest="one"))
    again = await bench.curator.apply_command(command(bench, "create", text="User has a cat", digest="another"))
    assert (first.digest, again.digest, again.repeated) == ("one", "one", True)
    purged = await bench.curator.apply_command(command(bench, "purge", command_id="y", digest="last"))
    assert purged.digest == "last"


async def test_an_update_makes_a_version_and_a_new_vector(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    vector = bench.vectors.points[memory.memory_id].vector
    await bench.curator.apply_command(command(bench, "update", memory_id=memory.memory_id, text="User keeps bees"))
    assert not (bench.vectors.points[memory.memory_id].vector == vector).all()
    created, updated = await bench.memories.versions(memory.memory_id)
    assert updated.before == created.after == memory
    assert (updated.change, updated.after.text, updated.cause.actor) == ("updated", "User keeps bees", "anna")
    assert bench.events()[-1].data.before == memory
    assert (await bench.remember("user keeps bees")).memory_id == memory.memory_id


async def test_an_update_of_anything_but_the_text_keeps_the_vector(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    vector = bench.vectors.points[memory.memory_id].vector
    await bench.curator.apply_command(command(bench, "update", memory_id=memory.memory_id, importance=0.1))
    point = bench.vectors.points[memory.memory_id]
    assert (point.vector == vector).all()
    assert point.importance == 0.1


async def test_a_deleted_memory_is_left_in_its_versions_only(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    await bench.curator.apply_command(command(bench, "delete", memory_id=memory.memory_id))
    gone = await bench.memories.get(memory.memory_id)
    assert gone is not None
    assert (gone.status, gone.text, gone.sources) == ("deleted", "", ())
    assert bench.vectors.points == {}
    assert await bench.pool.fetchval("SELECT count(*) FROM embeddings") == 0
    assert (await bench.memories.versions(memory.memory_id))[-1].before == memory
    last = bench.publisher.on(topics.STATE)[-1]
    assert (last.key, last.value) == (memory.memory_id.encode(), None)
    assert b"dog" not in (bench.publisher.on(topics.EVENTS)[-1].value or b"")
    again = await bench.remember("User has a dog")
    assert again.memory_id != memory.memory_id


async def test_a_command_for_an_unknown_memory_is_rejected_without_an_exception(bench: "Bench") -> None:
    outcome = await bench.curator.apply_command(command(bench, "delete", memory_id="unknown"))
    assert (outcome.status, outcome.reason) == ("rejected", "no memory unknown in n")
    (activity,) = bench.activity()
    assert (activity.type, activity.data["command_id"]) == ("memstream.command.rejected", "x")
    assert bench.events() == []


async def test_a_command_cannot_change_a_memory_of_another_namespace(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    outcome = await bench.curator.apply_command(command(bench, "delete", memory_id=memory.memory_id, namespace="other"))
    assert outcome.status == "rejected"
    assert await bench.memories.get(memory.memory_id) == memory


async def test_the_same_command_id_in_two_namespaces_is_two_commands(bench: "Bench") -> None:
    for namespace in ("a", "b"):
        await bench.curator.apply_command(command(bench, "create", text="User has a dog", namespace=namespace))
    assert await bench.memories.count_live("a") == await bench.memories.count_live("b") == 1


async def test_a_credential_in_a_command_is_stored_nowhere(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    secret = "the password is EXAMPLE-pw1"
    order = command(bench, "update", memory_id=memory.memory_id, text=secret, context=secret, reason=secret)
    await bench.curator.apply_command(order)
    _, updated = await bench.memories.versions(memory.memory_id)
    assert updated.after.text == updated.after.context == updated.cause.reason == "the password is [PASSWORD]"
    for table in ("memories", "memory_versions", "outbox"):
        assert "EXAMPLE" not in str(await bench.pool.fetch(f"SELECT * FROM {table}"))
    assert "EXAMPLE" not in repr((bench.vectors.points, bench.publisher.records))


async def test_the_validity_interval_is_set_changed_and_undone_by_commands(bench: "Bench") -> None:
    month = timedelta(days=30)
    made = command(bench, "create", text="User lives in Porto", valid_from=NOON + month, valid_until=NOON + 3 * month)
    memory_id = (await bench.curator.apply_command(made)).memory_id or ""
    longer = command(bench, "update", "longer", memory_id=memory_id, valid_until=NOON + 4 * month)
    await bench.curator.apply_command(longer)
    wrong = command(bench, "update", "wrong", memory_id=memory_id, valid_until=NOON)
    refused = await bench.curator.apply_command(wrong)
    changed = await bench.memories.get(memory_id)
    await bench.curator.apply_command(command(bench, "undo", "undo", memory_id=memory_id))
    undone = await bench.memories.get(memory_id)

    assert changed is not None and undone is not None
    assert (changed.valid_from, changed.valid_until) == (NOON + month, NOON + 4 * month)
    assert (refused.status, changed.version) == ("rejected", 2)
    assert undone.valid_until == NOON + 3 * month
