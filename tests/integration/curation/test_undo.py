"""Any change of a memory can be undone by a change of its own."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from schemas.kafka import topics
from schemas.memories.commands import Command
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


def command(kind: Any, memory_id: str, **fields: Any) -> Command:
    return Command(command_id=uuid4().hex, kind=kind, namespace="n", at=NOON, memory_id=memory_id, **fields)


async def test_undoing_an_update_adds_a_restored_version(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog", tags=("pets",))
    await bench.curator.apply_command(command("update", memory.memory_id, text="User has a cat", tags=("cats",)))
    outcome = await bench.curator.apply_command(command("undo", memory.memory_id, reason="it was a dog", actor="mara"))
    assert (outcome.status, outcome.change) == ("accepted", "restored")
    restored = await bench.memories.get(memory.memory_id)
    assert restored is not None
    assert (restored.text, restored.tags, restored.version) == ("User has a dog", ("pets",), 3)
    versions = await bench.memories.versions(memory.memory_id)
    assert [version.change for version in versions] == ["created", "updated", "restored"]
    assert versions[-1].cause.reason == "undo of version 2: it was a dog"
    assert versions[-1].cause.actor == "mara"
    assert bench.events()[-1].data.memory == restored


async def test_an_undo_can_itself_be_undone(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    await bench.curator.apply_command(command("update", memory.memory_id, text="User has a cat"))
    await bench.curator.apply_command(command("undo", memory.memory_id))
    await bench.curator.apply_command(command("undo", memory.memory_id))
    again = await bench.memories.get(memory.memory_id)
    assert again is not None
    assert again.text == "User has a cat"


async def test_undoing_a_deletion_restores_the_memory_and_its_vector_point(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    await bench.curator.apply_command(command("delete", memory.memory_id))
    assert memory.memory_id not in bench.vectors.points
    await bench.curator.apply_command(command("undo", memory.memory_id))
    assert bench.vectors.points[memory.memory_id].status == "active"
    reinforced = await bench.remember("User has a dog")
    assert (reinforced.memory_id, reinforced.reinforcement_count) == (memory.memory_id, 1)
    assert [record.value is None for record in bench.publisher.on(topics.STATE)] == [False, True, False, False]


async def test_undoing_the_undo_of_a_deletion_publishes_a_deletion_without_contents(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    await bench.curator.apply_command(command("delete", memory.memory_id))
    await bench.curator.apply_command(command("undo", memory.memory_id))
    outcome = await bench.curator.apply_command(command("undo", memory.memory_id))
    assert outcome.change == "deleted"
    event = bench.events()[-1]
    assert (event.type, event.data.memory.status) == ("memstream.memory.deleted", "deleted")
    assert (event.data.memory.text, event.data.before) == ("", None)
    assert memory.memory_id not in bench.vectors.points


async def test_undoing_the_undo_of_a_supersession_publishes_a_supersession(bench: "Bench") -> None:
    old = await bench.remember("User lives in Paris")
    new = await bench.remember("User moved to Berlin", contradicts=old.memory_id)
    await bench.curator.apply_command(command("undo", old.memory_id))
    await bench.curator.apply_command(command("undo", old.memory_id))
    event = bench.events()[-1]
    assert (event.type, event.data.memory.status) == ("memstream.memory.superseded", "superseded")
    assert event.data.memory.superseded_by == new.memory_id


async def test_undoing_the_deletion_of_a_superseded_memory_restores_it_as_superseded(bench: "Bench") -> None:
    old = await bench.remember("User lives in Paris")
    await bench.remember("User moved to Berlin", contradicts=old.memory_id)
    await bench.curator.apply_command(command("delete", old.memory_id))
    outcome = await bench.curator.apply_command(command("undo", old.memory_id))
    now = await bench.memories.get(old.memory_id)
    assert now is not None
    assert (outcome.change, now.status, now.text) == ("restored", "superseded", old.text)


async def test_an_undo_that_would_delete_a_deleted_memory_changes_nothing(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    await bench.curator.apply_command(command("delete", memory.memory_id))
    outcome = await bench.curator.apply_command(command("undo", memory.memory_id, version=1))
    assert (outcome.status, outcome.change) == ("accepted", None)
    restored = await bench.curator.apply_command(command("undo", memory.memory_id))
    assert restored.change == "restored"


async def test_undoing_a_supersession_makes_the_old_memory_active_again(bench: "Bench") -> None:
    old = await bench.remember("User lives in Paris")
    await bench.remember("User moved to Berlin", contradicts=old.memory_id)
    await bench.curator.apply_command(command("undo", old.memory_id))
    now = await bench.memories.get(old.memory_id)
    assert now is not None
    assert (now.status, now.valid_until, now.superseded_by) == ("active", None, None)


@pytest.mark.parametrize(
    ("said", "fields", "change"),
    [
        ("User has a dog called Rex, blind", {"refines": True}, "merged"),
        ("User has a dog called Rex", {"valid_until": NOON + timedelta(days=90)}, "merged"),
        ("User gives the dog Rex away", {"contradicts": True, "valid_from": NOON + timedelta(days=90)}, "updated"),
        ("User gave the dog Rex away", {"contradicts": True}, "superseded"),
    ],
    ids=["a detail", "an end", "a planned change", "a change"],
)
async def test_undo_takes_back_what_a_later_statement_did_to_a_memory(
    bench: "Bench", said: str, fields: dict[str, Any], change: str
) -> None:
    memory = await bench.remember("User has a dog called Rex")
    named = {name: memory.memory_id if value is True else value for name, value in fields.items()}
    await bench.remember(said, **named)
    assert (await bench.memories.versions(memory.memory_id))[-1].change == change
    await bench.curator.apply_command(command("undo", memory.memory_id))
    now = await bench.memories.get(memory.memory_id)
    assert now is not None
    unchanged = ("text", "status", "valid_from", "valid_until", "superseded_by", "sources", "reinforcement_count")
    assert {name: getattr(now, name) for name in unchanged} == {name: getattr(memory, name) for name in unchanged}


async def test_an_earlier_version_can_be_undone_and_undoing_the_first_deletes_the_memory(bench: "Bench") -> None:
    memory = await bench.remember("User has a dog")
    for text in ("User has two dogs", "User has three dogs"):
        await bench.curator.apply_command(command("update", memory.memory_id, text=text))
    await bench.curator.apply_command(command("undo", memory.memory_id, version=2))
    first = await bench.memories.get(memory.memory_id)
    assert first is not None
    assert first.text == "User has a dog"
    outcome = await bench.curator.apply_command(command("undo", memory.memory_id, version=1))
    assert outcome.change == "deleted"
    assert await bench.memories.count_live("n") == 0


@pytest.mark.parametrize(("memory_id", "version"), [("none", None), ("", None), ("known", 9), ("foreign", None)])
async def test_undo_of_an_unknown_or_foreign_memory_or_version_is_rejected(
    bench: "Bench", memory_id: str, version: int | None
) -> None:
    known = await bench.remember("User has a dog")
    await bench.curator.curate(bench.batch("User has a fox", namespace="other"))
    (foreign,) = await bench.memories.in_namespace("other")
    undone_id = {"known": known.memory_id, "foreign": foreign.memory_id}.get(memory_id, memory_id)
    outcome = await bench.curator.apply_command(command("undo", undone_id, version=version))
    assert outcome.status == "rejected"
    assert undone_id in (outcome.reason or "")
    assert await bench.memories.get(foreign.memory_id) == foreign


async def test_a_restored_memory_stays_in_a_full_namespace_and_another_is_removed(bench: "Bench") -> None:
    policy = Policy(name="notes", match=Match(app_id="n"), namespaces=("{app_id}",), max_memories=2)
    curator = bench.curator_under(Policies((policy,)))
    texts = ("User has a dog", "User speaks Danish", "User works in Lyon")
    for text in texts:
        await curator.curate(bench.batch(text, policy="notes"))
    gone = next(event.data.memory for event in bench.events() if event.data.change == "compacted")
    await curator.apply_command(command("undo", gone.memory_id))
    assert {memory.text for memory in await bench.memories.in_namespace("n")} == {texts[0], texts[2]}


async def test_an_undo_reverts_the_change_that_is_latest_when_it_is_applied(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker changes the memory while the text that comes back is being embedded."""
    memory = await bench.remember("User has a dog")
    await bench.curator.apply_command(command("update", memory.memory_id, text="User has two dogs"))
    embed, others = bench.curator._inputs.embed, [command("update", memory.memory_id, text="User has three dogs")]

    async def slowly(texts: list[str]) -> dict[str, Any]:
        if others and "User has a dog" in texts:
            await bench.curator.apply_command(others.pop())
        return await embed(texts)

    monkeypatch.setattr(bench.curator._inputs, "embed", slowly)
    await bench.curator.apply_command(command("undo", memory.memory_id))
    now = await bench.memories.get(memory.memory_id)
    assert now is not None
    assert (now.text, now.version) == ("User has two dogs", 4)
    assert (await bench.memories.versions(memory.memory_id))[-1].cause.reason == "undo of version 3: as asked"
    assert bench.vectors.points[memory.memory_id].text == "User has two dogs"
