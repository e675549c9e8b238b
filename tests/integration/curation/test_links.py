"""Links between memories in PostgreSQL and in events: no link outlives its target."""

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from agents.models.port import Compaction
from schemas.codec import decode
from schemas.extraction.links import Link
from schemas.kafka import topics
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from tests.integration.curation_bench import Bench


def command(kind: Any, **fields: Any) -> Command:
    return Command(command_id=uuid4().hex, kind=kind, namespace="n", at=NOON, **fields)


async def states(bench: "Bench") -> dict[str, Memory | None]:
    """The latest of each key, as a consumer of the compacted topic has it."""
    latest = {record.key.decode(): record.value for record in bench.publisher.on(topics.STATE)}
    return {name: None if value is None else decode(value, Memory) for name, value in latest.items()}


async def two_related(bench: "Bench") -> tuple[Memory, Memory]:
    one = await bench.remember("User is allergic to peanuts and to the pollen of birches")
    other = await bench.remember("User is allergic to walnuts and to the pollen of birches")
    return one, other


async def test_a_related_memory_is_stored_and_published_with_its_link(bench: "Bench") -> None:
    one, other = await two_related(bench)
    assert other.links == (Link(type="relates", memory_id=one.memory_id),)
    assert (await states(bench))[other.memory_id] == other
    assert bench.events()[-1].data.memory == other
    assert (await bench.memories.versions(other.memory_id))[-1].after == other
    assert await bench.memories.linking("n", [one.memory_id]) == (other,)
    assert await bench.memories.linking("elsewhere", [one.memory_id]) == ()


async def test_a_superseding_memory_links_to_the_superseded_one(bench: "Bench") -> None:
    old = await bench.remember("User lives in Paris")
    new = await bench.remember("User moved to Berlin", contradicts=old.memory_id)
    assert new.links == (Link(type="supersedes", memory_id=old.memory_id),)
    assert await bench.memories.get(new.memory_id) == new


async def test_deleting_a_memory_removes_links_to_it_and_publishes_the_unlinked_states(bench: "Bench") -> None:
    one, other = await two_related(bench)
    await bench.curator.apply_command(command("delete", memory_id=one.memory_id, actor="mara"))
    now = await bench.memories.get(other.memory_id)
    assert now is not None
    assert (now.links, now.version) == ((), 2)
    published = await states(bench)
    assert published[one.memory_id] is None
    assert published[other.memory_id] == now
    deleted, unlinked = bench.events()[-2:]
    assert (deleted.data.change, unlinked.data.change, unlinked.data.sequence) == ("deleted", "updated", 4)
    assert unlinked.data.before == other
    assert one.memory_id not in str(await bench.pool.fetch("SELECT links FROM memories"))
    await bench.curator.apply_command(command("undo", memory_id=other.memory_id, version=1))
    await bench.curator.apply_command(command("undo", memory_id=other.memory_id))
    again = await bench.memories.get(other.memory_id)
    assert again is not None
    assert again.links == (), "what it linked to is still gone"


async def test_links_to_a_merged_memory_point_to_the_memory_that_absorbed_it(
    bench: "Bench", monkeypatch: "pytest.MonkeyPatch"
) -> None:
    async def merge(memories: "Sequence[Memory]", policy: Policy) -> Compaction:
        ids = {memory.text: memory.memory_id for memory in memories}
        return Compaction(
            provider="fake",
            model="fake-1",
            action="edit",
            memory_id=ids["User keeps bees"],
            reason="both at home",
            text="User keeps bees and has a dog",
            absorbs=ids["User has a dog"],
        )

    monkeypatch.setattr(bench.provider, "compact", merge)
    policy = Policy(name="notes", match=Match(app_id="n"), namespaces=("{app_id}",), max_memories=2)
    curator = bench.curator_under(Policies((policy,)))
    bees, dog = await bench.remember("User keeps bees"), await bench.remember("User has a dog")
    linked = Link(type="refines", memory_id=dog.memory_id)
    outcome = await curator.apply_command(command("create", text="User walks at six", links=(linked,)))
    walks = await bench.memories.get(outcome.memory_id or "")
    assert walks is not None
    assert walks.links == (Link(type="refines", memory_id=bees.memory_id),)
    assert outcome.sequence == 6


async def test_erasing_a_namespace_leaves_no_links(bench: "Bench") -> None:
    one, _ = await two_related(bench)
    await bench.curator.apply_command(command("purge"))
    for name in ("memories", "memory_versions", "outbox"):
        assert one.memory_id not in str(await bench.pool.fetch(f"SELECT * FROM {name}"))
    assert set((await states(bench)).values()) == {None}
