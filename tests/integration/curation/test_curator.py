"""The curator turns candidates into memories, versions, points and events on PostgreSQL, with fakes of Qdrant and
Kafka."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from agents.curation.rules.decisions.settle import settle
from agents.curation.rules.ledger.outcomes import Ruling
from schemas import ids
from schemas.codec import decode
from schemas.kafka import topics
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies
from tests.fakes.embedder import FakeEmbedder, RecordingEmbedder

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def test_a_candidate_becomes_a_memory_a_version_a_point_and_an_event(bench: "Bench") -> None:
    candidate = bench.candidate("User has a dog", kinds=("pet",), tags=("dog",), context="asked about walks")
    outcome = await bench.curator.curate(bench.batch(candidate))
    memory_id = ids.memory_id(candidate.candidate_id)
    memory = await bench.memories.get(memory_id)
    assert memory is not None
    assert (memory.text, memory.version, memory.sequence, memory.tags) == ("User has a dog", 1, 1, ("dog",))
    assert (memory.context, memory.kinds, memory.sources) == ("asked about walks", ("pet",), candidate.sources)
    assert [version.change for version in await bench.memories.versions(memory_id)] == ["created"]
    assert bench.vectors.points[memory_id].kinds == ("fact", "pet")
    (event,) = bench.events()
    assert (event.type, event.data.sequence, event.data.memory) == ("memstream.memory.created", 1, memory)
    (state,) = bench.publisher.on(topics.STATE)
    assert (state.key, decode(state.value, Memory)) == (memory_id.encode(), memory)
    assert outcome.rulings[0].memory_id == memory_id
    assert await bench.pending() == 0


async def test_the_changed_texts_of_a_part_are_embedded_together(bench: "Bench") -> None:
    """Each embedding has the part decided again from the beginning."""
    dog = await bench.remember("User's dog called Rex is a labrador")
    cat = await bench.remember("User's cat called Mia is a siamese")
    recorder = RecordingEmbedder()
    said = [
        bench.candidate("User's dog called Rex has a red collar", refines=dog.memory_id),
        bench.candidate("User's cat called Mia has a red collar", refines=cat.memory_id),
    ]
    await bench.curator_under(Policies(), embedder=recorder).curate(bench.batch(*said))
    texts = {each.text for each in await bench.memories.in_namespace("n")}
    assert texts == {
        "User's dog called Rex is a labrador. User's dog called Rex has a red collar",
        "User's cat called Mia is a siamese. User's cat called Mia has a red collar",
    }
    assert recorder.batches == [{each.text for each in said}, texts]


async def test_other_work_of_the_process_has_its_turn_between_two_candidates(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 0
    seen: list[int] = []

    async def other_work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def settled(*given: Any) -> Ruling:
        seen.append(turns)
        return settle(*given)

    monkeypatch.setattr("agents.curation.parts.settle", settled)
    working = asyncio.create_task(other_work())
    await bench.curator.curate(bench.batch("User has a dog", "User plays chess", "User speaks Finnish"))
    working.cancel()
    assert len(set(seen)) == 3


async def test_the_same_text_from_another_message_reinforces_the_memory(bench: "Bench") -> None:
    first = await bench.remember("User has a dog")
    second = await bench.remember("user has a DOG!")
    assert (second.memory_id, second.reinforcement_count, len(second.sources)) == (first.memory_id, 1, 2)
    assert [event.data.change for event in bench.events()] == ["created", "reinforced"]


async def test_a_paraphrase_reinforces_the_memory(bench: "Bench") -> None:
    first = await bench.remember("User likes to hike in the mountains every weekend")
    second = await bench.remember("The user likes to hike in the mountains every weekend")
    assert second.memory_id == first.memory_id
    assert second.text == first.text


async def test_a_negation_supersedes_the_memory_it_denies_despite_a_similar_vector(bench: "Bench") -> None:
    first = await bench.remember("User is allergic to peanuts and to the pollen of birches")
    second = await bench.remember("User is not allergic to peanuts and to the pollen of birches")
    assert second.supersedes == first.memory_id
    assert await bench.memories.in_namespace("n") == (second,)


async def test_a_contradiction_supersedes_the_old_memory_and_closes_its_validity_interval(bench: "Bench") -> None:
    old = await bench.remember("User lives in Paris")
    new = await bench.remember("User moved to Berlin", contradicts=old.memory_id)
    old_now = await bench.memories.get(old.memory_id)
    assert old_now is not None
    assert (old_now.status, old_now.superseded_by, old_now.text) == ("superseded", new.memory_id, old.text)
    assert (old_now.valid_from, old_now.valid_until) == (old.valid_from, new.valid_from)
    assert new.supersedes == old.memory_id
    assert [memory.memory_id for memory in await bench.memories.in_namespace("n")] == [new.memory_id]
    assert bench.vectors.points[old.memory_id].status == "superseded"
    assert [event.data.change for event in bench.events()] == ["created", "created", "superseded"]


async def test_a_memory_of_another_namespace_is_never_touched(bench: "Bench") -> None:
    foreign = await bench.remember("User lives in Paris")
    candidate = bench.candidate("User lives in Paris", contradicts=foreign.memory_id)
    await bench.curator.curate(bench.batch(candidate, namespace="other"))
    assert await bench.memories.get(foreign.memory_id) == foreign
    assert await bench.memories.count_live("other") == 1


async def test_duplicates_within_a_batch_make_one_memory(bench: "Bench") -> None:
    outcome = await bench.curator.curate(
        bench.batch("User has a dog", "user has a dog.", "The user has a dog", "User has a cat")
    )
    assert [ruling.result for ruling in outcome.rulings] == ["created", "reinforced", "reinforced", "created"]
    assert await bench.memories.count_live("n") == 2


async def test_a_redelivered_batch_changes_nothing_and_returns_the_same_rulings(bench: "Bench") -> None:
    batch = bench.batch("User has a dog", "User has a cat")
    first = await bench.curator.curate(batch)
    published = list(bench.publisher.records)
    again = await bench.curator.curate(batch)
    assert again.repeated
    assert again.rulings == first.rulings
    assert bench.publisher.records == published


async def test_a_batch_delivered_to_several_workers_at_once_is_applied_once(
    bench: "Bench", make_bench: Callable[[], "Bench"]
) -> None:
    batch = bench.batch("User has a dog")
    outcomes = await asyncio.gather(*(make_bench().curator.curate(batch) for _ in range(5)))
    assert sum(not outcome.repeated for outcome in outcomes) == 1
    assert await bench.memories.count_live("n") == 1


async def test_twenty_concurrent_duplicates_make_one_memory(bench: "Bench") -> None:
    said = [bench.batch("User has a dog" if n % 2 else "The user has a dog") for n in range(20)]
    await asyncio.gather(*map(bench.curator.curate, said))
    (memory,) = await bench.memories.in_namespace("n")
    assert (memory.reinforcement_count, len(memory.sources), memory.version) == (19, 20, 20)
    assert [event.data.sequence for event in bench.events()] == list(range(1, 21))


async def test_a_candidate_with_low_confidence_is_dropped(bench: "Bench") -> None:
    outcome = await bench.curator.curate(bench.batch(bench.candidate("User has a dog", confidence=0.1)))
    assert (outcome.rulings[0].result, outcome.rulings[0].memory_id) == ("dropped", None)
    assert await bench.memories.count_live("n") == 0


async def test_change_events_include_the_previous_state_of_the_memory(bench: "Bench") -> None:
    old = await bench.remember("User lives in Paris")
    reinforced = await bench.remember("user lives in PARIS")
    await bench.remember("User moved to Berlin", contradicts=old.memory_id)
    first, second, third, fourth = (event.data for event in bench.events())
    assert (first.before, third.before) == (None, None), "there was nothing"
    assert (second.change, second.before) == ("reinforced", old)
    assert (fourth.change, fourth.before) == ("superseded", reinforced)


async def test_a_refinement_is_merged_and_the_old_text_stays_in_the_versions(bench: "Bench") -> None:
    old = await bench.remember("User has a dog", context="asked about walks", tags=("pets",))
    new = await bench.remember("User has a dog named Rex", refines=old.memory_id, context="at the vet", tags=("vet",))
    assert (new.memory_id, new.text, new.version) == (old.memory_id, "User has a dog named Rex", 2)
    assert (new.context, new.tags, len(new.sources)) == ("asked about walks; at the vet", ("pets", "vet"), 2)
    created, merged = await bench.memories.versions(old.memory_id)
    assert (created.change, merged.change) == ("created", "merged")
    assert merged.before is not None
    assert (merged.before.text, merged.after.text) == (old.text, new.text)
    event = bench.events()[-1]
    assert (event.type, event.data.before and event.data.before.text) == ("memstream.memory.merged", old.text)
    assert bench.vectors.points[old.memory_id].text == new.text


async def test_a_merged_memory_is_found_by_its_new_text(bench: "Bench") -> None:
    """Its vector and its normalised text are those of the new text."""
    old = await bench.remember("User has a dog")
    await bench.remember("User has a dog named Rex", refines=old.memory_id)
    again = await bench.remember("user has a dog named REX!")
    assert (again.memory_id, again.reinforcement_count) == (old.memory_id, 2)
    (vector,) = await FakeEmbedder().embed(["User has a dog named Rex"])
    (near,) = await bench.vectors.neighbours("n", vector, min_score=0.99, limit=1)
    assert near.memory_id == old.memory_id


async def test_an_exact_match_is_found_without_the_vector_index(bench: "Bench") -> None:
    first = await bench.remember("User has a dog")
    bench.vectors.points.clear()
    second = await bench.remember("user has a dog.")
    assert second.memory_id == first.memory_id
