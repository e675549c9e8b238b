"""A model says what candidates are to the memories near them: once, as evidence that the rules hold to what is there."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.resolver import Resolver
from agents.curation.rules.thresholds import thresholds
from agents.models.port import Verdict
from schemas.errors import Retryable
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies, Policy
from sinks.embeddings.fake import FakeEmbedder
from sinks.memories.resolutions import Resolutions

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

RESOLVING = Policy(name="resolving", resolve=True)
ENGLISH = Policy(name="english", resolve=True, one_language="en")


def curator(bench: "Bench") -> Curator:
    embedder = FakeEmbedder()
    return Curator(
        bench.pool,
        bench.vectors,
        embedder,
        bench.projector,
        Policies((RESOLVING, ENGLISH)),
        bench.now,
        Compactor(bench.provider, embedder),
        Editor(bench.provider),
        resolver=Resolver(bench.provider, Resolutions(bench.pool), bench.now),
    )


def about_first(
    bench: "Bench", **fields: object
) -> Callable[[Sequence[Candidate], Sequence[Memory]], tuple[Verdict, ...]]:
    """A verdict about the first candidate and the first memory; what is True stands for that memory."""

    def verdicts(said: Sequence[Candidate], known: Sequence[Memory]) -> tuple[Verdict, ...]:
        named = {name: known[0].memory_id if value is True else value for name, value in fields.items()}
        return (Verdict(candidate_id=said[0].candidate_id, **named),)  # type: ignore[arg-type]

    return verdicts


async def test_a_text_made_of_both_takes_the_memorys_place(bench: "Bench") -> None:
    known = await bench.remember("User has a dog called Rex")
    both = "User has a dog called Rex, a labrador"
    bench.provider.verdicts = about_first(bench, same=True, text=both)
    outcome = await curator(bench).curate(bench.batch("User's dog called Rex is a labrador", policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert [ruling.result for ruling in outcome.rulings] == ["merged"]
    assert (after.memory_id, after.text) == (known.memory_id, both)
    assert await bench.pool.fetchval("SELECT count(*) FROM resolutions") == 0, "the part is settled"


async def test_a_text_that_drops_what_the_memory_says_is_not_taken(bench: "Bench") -> None:
    await bench.remember("User has a dog called Rex")
    bench.provider.verdicts = about_first(bench, same=True, text="User has a labrador")
    await curator(bench).curate(bench.batch("User has a dog that is a labrador", policy="resolving"))
    said = " ".join(each.text for each in await bench.memories.in_namespace("n"))
    assert "Rex" in said
    assert "labrador" in said


async def test_the_same_in_another_language_is_one_memory(bench: "Bench") -> None:
    known = await bench.remember("User lives in Turku", language="en")
    bench.provider.verdicts = about_first(bench, same=True)
    said = bench.candidate("User wohnt in Turku", language="de")
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert (after.memory_id, after.text, after.reinforcement_count) == (known.memory_id, known.text, 1)


async def test_the_same_in_another_language_meets_though_the_index_does_not_name_it(bench: "Bench") -> None:
    """As with an embedder for which two languages have little in common; names lead from one to the other."""
    known = await bench.remember("User's sister Marja plays the cello", language="en")
    for number in range(20):
        await bench.remember(f"Talk number {number} was about topic {number}", language="en")
    shown: list[list[str]] = []

    def verdicts(said: Sequence[Candidate], memories: Sequence[Memory]) -> tuple[Verdict, ...]:
        shown.append([each.memory_id for each in memories])
        return (Verdict(candidate_id=said[0].candidate_id, same=known.memory_id),)

    bench.provider.verdicts = verdicts
    said = bench.candidate("Marja ist Cellistin", language="de")
    (vector,) = await FakeEmbedder().embed([said.text])
    comparable = thresholds(FakeEmbedder.model, RESOLVING).comparable
    assert await bench.vectors.neighbours("n", vector, min_score=comparable, limit=24) == [], (
        "it takes more than likeness"
    )
    outcome = await curator(bench).curate(bench.batch(said, policy="resolving"))

    assert [known.memory_id in each for each in shown] == [True]
    assert [ruling.result for ruling in outcome.rulings] == ["reinforced"]
    (kept,) = [each for each in await bench.memories.in_namespace("n") if "Marja" in each.text]
    assert (kept.memory_id, kept.text, kept.reinforcement_count) == (known.memory_id, known.text, 1)


async def test_what_a_model_says_of_memories_in_another_language_is_held_to_figures(bench: "Bench") -> None:
    known = await bench.remember("User has 2 cats", language="en")
    bench.provider.verdicts = about_first(bench, same=True)
    said = bench.candidate("Zuhause leben 3 Katzen", language="de")
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    assert {each.text for each in await bench.memories.in_namespace("n")} == {known.text, said.text}


async def test_under_one_language_a_memory_in_another_one_is_told_anew_with_all_that_both_say(bench: "Bench") -> None:
    known = await bench.remember("Der Hund des Nutzers heißt Rex", language="de")
    both = "User's dog is called Rex and is a labrador"
    bench.provider.verdicts = about_first(bench, same=True, text=both)
    said = bench.candidate("User's Rex is a labrador", language="en")
    outcome = await curator(bench).curate(bench.batch(said, policy="english"))
    (after,) = await bench.memories.in_namespace("n")
    assert [ruling.result for ruling in outcome.rulings] == ["merged"]
    assert (after.memory_id, after.text, after.language) == (known.memory_id, both, "en")
    assert {each.message_id for each in after.sources} > {each.message_id for each in known.sources}


async def test_under_one_language_a_text_that_loses_a_number_is_not_taken(bench: "Bench") -> None:
    known = await bench.remember("Der Nutzer hat 2 Katzen aus Turku", language="de")
    bench.provider.verdicts = about_first(bench, same=True, text="User has cats from Turku, both black")
    said = bench.candidate("User's cats from Turku are both black", language="en")
    await curator(bench).curate(bench.batch(said, policy="english"))
    assert known.text in {each.text for each in await bench.memories.in_namespace("n")}


async def test_what_is_said_in_another_language_is_added_in_the_language_of_the_memory(bench: "Bench") -> None:
    known = await bench.remember("User has a dog called Rex", language="en")
    both = "User has a dog called Rex, a labrador"
    bench.provider.verdicts = about_first(bench, same=True, text=both)
    said = bench.candidate("Rex ist ein Labrador", language="de")
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert (after.memory_id, after.text, after.language) == (known.memory_id, both, "en")


async def test_one_candidate_takes_back_what_an_earlier_one_of_its_slice_says(bench: "Bench") -> None:
    first, second = bench.candidate("User takes the jacket in medium"), bench.candidate("User always takes large")
    bench.provider.verdicts = lambda said, known: (
        Verdict(candidate_id=second.candidate_id, corrects=(first.candidate_id,)),
    )
    await curator(bench).curate(bench.batch(first, second, policy="resolving"))
    assert [each.text for each in await bench.memories.in_namespace("n")] == [second.text]


async def test_a_redelivered_part_asks_nobody_twice(bench: "Bench", monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.remember("User lives in Turku")
    bench.provider.verdicts = about_first(bench, ends=())
    batch = bench.batch("User lives in a house", policy="resolving")

    async def fails(*given: object, **named: object) -> None:
        raise Retryable("the store is away")

    with monkeypatch.context() as broken, pytest.raises(Retryable):
        broken.setattr("agents.curation.curator.close_ledger", fails)
        await curator(bench).curate(batch)
    await curator(bench).curate(batch)
    await curator(bench).curate(batch)
    assert bench.provider.asked["resolve"] == 1


async def test_without_an_answer_the_rules_decide(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    bench.provider.failures.append(Retryable("away"))
    await curator(bench).curate(bench.batch("User lives in Oulu", policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert (after.text, after.supersedes) == ("User lives in Oulu", home.memory_id)


async def test_nobody_is_asked_where_there_is_nothing_to_compare(bench: "Bench") -> None:
    await curator(bench).curate(bench.batch("User lives in Turku", policy="resolving"))
    known = bench.candidate("User lives in Turku")
    await curator(bench).curate(bench.batch(replace(known, candidate_id="again"), policy="resolving"))
    assert bench.provider.asked["resolve"] == 0
