"""A statement that corrects another one of the same slice ends the memory with the corrected statement."""

from typing import TYPE_CHECKING

from schemas import ids
from schemas.policies.policies import Policies, Policy

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def test_a_candidate_supersedes_another_one_that_it_corrects_in_the_same_slice_in_any_order(
    bench: "Bench",
) -> None:
    brother = bench.candidate("User's brother Elias is a pilot")
    cousin = bench.candidate("User's cousin Elias is a pilot", corrects=(brother.candidate_id,))

    outcome = await bench.curator.curate(bench.batch(cousin, brother))

    (memory,) = await bench.memories.in_namespace("n")
    assert (memory.text, memory.supersedes) == (cousin.text, ids.memory_id(brother.candidate_id))
    assert [(each.data.change, each.data.memory and each.data.memory.text) for each in bench.events()] == [
        ("created", brother.text),
        ("created", cousin.text),
        ("superseded", brother.text),
    ]
    assert [ruling.result for ruling in outcome.rulings] == ["superseded", "created"]


async def test_a_correction_ends_the_memory_that_the_corrected_candidate_reinforced(bench: "Bench") -> None:
    known = await bench.remember("User takes the jacket in medium.")
    medium = bench.candidate("User takes the jacket in medium.")
    large = bench.candidate("User takes the jacket in large.", corrects=(medium.candidate_id,))

    await bench.curator.curate(bench.batch(medium, large))

    (memory,) = await bench.memories.in_namespace("n")
    assert (memory.text, memory.supersedes) == (large.text, known.memory_id)


async def test_a_correction_replaces_the_corrected_candidate_within_the_limit_per_conversation(bench: "Bench") -> None:
    policy = Policy(name="one", namespaces=("n",), max_per_conversation=1)
    medium = bench.candidate("User takes the jacket in medium.", importance=0.4)
    large = bench.candidate("User takes the jacket in large.", importance=0.9, corrects=(medium.candidate_id,))
    other = bench.candidate("User has a dog.", importance=0.2)

    await bench.curator_under(Policies((policy,))).curate(bench.batch(medium, large, other, policy="one"))

    (memory,) = await bench.memories.in_namespace("n")
    assert memory.text == large.text
