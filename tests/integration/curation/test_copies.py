"""A statement that a policy stores in two namespaces ends, or is forgotten, in both, whichever of its memories a model names."""

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from schemas.extraction.candidates import Candidate, Source, Wish
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies, Policy
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

PERSONAL, TEAM = "kitchen/ada", "kitchen"
# None of the rules finds that the second ends the first.
OLD, NEW = "User keeps bees behind the barn", "User handed the bees behind the barn to a neighbour"


def source(message_id: str) -> Source:
    return Source(conversation_id="c", message_id=message_id, timestamp=NOON, user_id="ada")


async def stored(bench: "Bench", namespace: str, message_id: str, *texts: str, **fields: Any) -> tuple[Memory, ...]:
    """The memories of the part of a request that feeds two namespaces."""
    said: list[Candidate] = [bench.candidate(text, sources=(source(message_id),), **fields) for text in texts]
    part = {PERSONAL: 1, TEAM: 2}[namespace]
    batch = bench.batch(*said, namespace=namespace, part=part, parts=2, request_id=message_id)
    outcome = await bench.curator.curate(batch)
    found = await bench.memories.by_ids([ruling.memory_id or "" for ruling in outcome.rulings])
    return tuple(found[ruling.memory_id or ""] for ruling in outcome.rulings)


async def texts(bench: "Bench", namespace: str) -> set[str]:
    return {memory.text for memory in await bench.memories.in_namespace(namespace)}


async def test_a_reference_to_a_memory_ends_its_copies_in_other_namespaces_of_the_policy(bench: "Bench") -> None:
    (known,) = await stored(bench, PERSONAL, "m1", OLD)
    await stored(bench, TEAM, "m1", OLD)
    for namespace in (PERSONAL, TEAM):
        await stored(bench, namespace, "m2", NEW, contradicts=known.memory_id)
    assert (await texts(bench, PERSONAL), await texts(bench, TEAM)) == ({NEW}, {NEW})


async def test_a_copy_with_the_name_of_its_speaker_ends_too(bench: "Bench") -> None:
    await stored(bench, PERSONAL, "m1", OLD)
    (known,) = await stored(bench, TEAM, "m1", "Ada keeps bees behind the barn")
    await stored(bench, TEAM, "m2", "Ada handed the bees behind the barn to a neighbour", supersedes=(known.memory_id,))
    await stored(bench, PERSONAL, "m2", NEW, supersedes=(known.memory_id,))
    assert await texts(bench, PERSONAL) == {NEW}


async def test_other_memories_and_other_messages_with_the_same_words_are_no_copies(bench: "Bench") -> None:
    (known,) = await stored(bench, PERSONAL, "m1", OLD)
    await stored(bench, TEAM, "m1", "User plays chess")
    await stored(bench, TEAM, "m3", OLD)
    await stored(bench, TEAM, "m2", NEW, contradicts=known.memory_id)
    assert await texts(bench, TEAM) == {"User plays chess", OLD, NEW}


async def test_the_guards_protect_a_copy_as_they_protect_the_memory_that_was_named(bench: "Bench") -> None:
    (known,) = await stored(bench, PERSONAL, "m1", OLD)
    await stored(bench, TEAM, "m1", OLD)
    await stored(bench, TEAM, "m2", NEW, contradicts=known.memory_id, confidence=0.3)
    assert await texts(bench, TEAM) == {OLD, NEW}


async def test_a_copy_is_found_after_the_same_request_has_changed_the_memory_that_was_named(bench: "Bench") -> None:
    (known,) = await stored(bench, PERSONAL, "m1", OLD)
    await stored(bench, TEAM, "m1", OLD)
    await stored(bench, PERSONAL, "m2", f"{OLD} in Leeds", refines=known.memory_id)
    changed = await bench.memories.get(known.memory_id)
    assert changed is not None and changed.text != OLD
    await stored(bench, TEAM, "m2", NEW, contradicts=known.memory_id)
    assert await texts(bench, TEAM) == {NEW}


@pytest.mark.parametrize("effect", ["delete", "end"])
async def test_a_wish_that_names_a_memory_forgets_its_copies_too(bench: "Bench", effect: Any) -> None:
    policy = Policy(name="default", namespaces=("{app_id}/{user_id}", "{app_id}"), on_forget_wish=effect)
    curator = bench.curator_under(Policies((policy,)))
    (known,) = await stored(bench, PERSONAL, "m1", OLD)
    await stored(bench, TEAM, "m1", "Ada keeps bees behind the barn", "Ada plays chess")
    wish = Wish(wish_id="w", message=source("m2"), topic="that hobby", memory_ids=(known.memory_id,))
    for part, namespace in enumerate((PERSONAL, TEAM), 1):
        batch = bench.batch(namespace=namespace, part=part, parts=2, request_id="m2")
        await curator.curate(replace(batch, wishes=(wish,)))
    assert (await texts(bench, PERSONAL), await texts(bench, TEAM)) == (set(), {"Ada plays chess"})


async def test_a_wish_forgets_no_copy_that_rests_on_another_persons_words_too(bench: "Bench") -> None:
    (known,) = await stored(bench, PERSONAL, "m1", OLD)
    both = (source("m1"), replace(source("m0"), user_id="bob"))
    said = bench.candidate(OLD, sources=both)
    await bench.curator.curate(bench.batch(said, namespace=TEAM, part=2, parts=2, request_id="m1"))
    wish = Wish(wish_id="w", message=source("m2"), topic="that hobby", memory_ids=(known.memory_id,))
    batch = bench.batch(namespace=TEAM, part=2, parts=2, request_id="m2")
    await bench.curator.curate(replace(batch, wishes=(wish,)))
    assert await texts(bench, TEAM) == {OLD}


async def test_a_memory_of_a_request_for_one_namespace_is_not_searched_for_copies(bench: "Bench") -> None:
    (known,) = await stored(bench, PERSONAL, "m1", OLD)
    await stored(bench, TEAM, "m1", OLD)
    said = bench.candidate(NEW, contradicts=known.memory_id)
    await bench.curator.curate(bench.batch(said, namespace=TEAM, request_id=uuid4().hex))
    assert await texts(bench, TEAM) == {OLD, NEW}
