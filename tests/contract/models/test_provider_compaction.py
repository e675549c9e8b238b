"""The contract of all providers for compaction of a namespace above its limit."""

from datetime import timedelta

from msgspec import structs

from agents.models.port import Provider
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY
from tests.builders.slices import MONDAY, known
from tests.contract.models.answering import answering


def stored(*texts: str) -> list[Memory]:
    """Memories of one kind, each a day after the one before."""
    return [
        structs.replace(known(text, memory_id=f"memory-{number}"), created_at=MONDAY + timedelta(days=number))
        for number, text in enumerate(texts)
    ]


async def test_compaction_step_names_provider_model_reason_and_one_of_the_given_memories(provider: Provider) -> None:
    memories = stored("User likes chess.", "User works at a bakery.", "User has two sons.")
    step = await provider.compact(memories, DEFAULT_POLICY)
    assert (step.provider, bool(step.model), bool(step.reason)) == (answering(provider), True, True)
    assert step.memory_id in {memory.memory_id for memory in memories}


async def test_compaction_deletes_a_memory_contradicted_by_a_newer_one(provider: Provider) -> None:
    memories = stored("User lives in Berlin.", "User likes chess.", "User lives in Lyon.")
    step = await provider.compact(memories, DEFAULT_POLICY)
    assert (step.action, step.memory_id, step.text, step.absorbs) == ("delete", "memory-0", None, None)


async def test_compaction_deletes_a_redundant_memory(provider: Provider) -> None:
    memories = stored("User likes green tea in the morning.", "User has two sons.", "User likes green tea.")
    step = await provider.compact(memories, DEFAULT_POLICY)
    assert (step.action, step.memory_id) == ("delete", "memory-2")


async def test_compaction_merges_two_related_memories_into_one_if_both_fit(provider: Provider) -> None:
    memories = stored(
        "User trains for the Lisbon marathon.", "User has two sons.", "User runs the Lisbon marathon in May."
    )
    step = await provider.compact(memories, DEFAULT_POLICY)
    assert (step.action, step.memory_id, step.absorbs) == ("edit", "memory-0", "memory-2")
    assert step.text is not None and "Lisbon" in step.text and "May" in step.text
    assert len(step.text) <= DEFAULT_POLICY.max_text_chars


async def test_compaction_of_unrelated_memories_deletes_the_oldest_of_the_least_important(
    provider: Provider,
) -> None:
    memories = stored("User is allergic to nuts.", "User likes chess.", "User drives a blue van.", "User owns a kayak.")
    memories = [structs.replace(memories[0], importance=0.9), *memories[1:]]
    step = await provider.compact(memories, DEFAULT_POLICY)
    assert (step.action, step.memory_id) == ("delete", "memory-1")


async def test_a_single_memory_can_be_compacted(provider: Provider) -> None:
    assert (await provider.compact(stored("User likes chess."), DEFAULT_POLICY)).memory_id == "memory-0"


async def test_compaction_returns_no_secrets(provider: Provider) -> None:
    memories = stored(
        "User opens the shed with password: EXAMPLE-pw.", "User opens the shed with the key, password: EXAMPLE-pw."
    )
    assert "EXAMPLE" not in repr(await provider.compact(memories, DEFAULT_POLICY))
