"""A model relates candidates to near memories once; the rules check its verdicts against the stored memories."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.resolver import Resolver
from agents.curation.rules.decisions.contradictions import UNTRUE
from agents.curation.rules.decisions.thresholds import thresholds, unrelated
from agents.models.port import Verdict
from schemas.errors import Retryable
from schemas.extraction.candidates import Candidate
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies, Policy
from sinks.memories.resolutions import Resolutions
from tests.fakes.embedder import FakeEmbedder, RecordingEmbedder
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

RESOLVING = Policy(name="resolving", resolve=True)
ENGLISH = Policy(name="english", resolve=True, one_language="en")


def curator(bench: "Bench", embedder: FakeEmbedder | None = None) -> Curator:
    embedder = embedder or FakeEmbedder()
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


async def store_is_away(*given: object, **named: object) -> None:
    raise Retryable("the store is away")


async def test_a_text_combining_memory_and_candidate_replaces_the_text_of_the_memory(bench: "Bench") -> None:
    known = await bench.remember("User has a dog called Rex")
    both = "User has a dog called Rex, a labrador"
    bench.provider.verdicts = about_first(bench, same=True, text=both)
    outcome = await curator(bench).curate(bench.batch("User's dog called Rex is a labrador", policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert [ruling.result for ruling in outcome.rulings] == ["merged"]
    assert (after.memory_id, after.text) == (known.memory_id, both)
    assert await bench.pool.fetchval("SELECT count(*) FROM resolutions") == 0, "the part is settled"


async def test_a_combined_text_that_loses_content_of_the_memory_is_rejected(bench: "Bench") -> None:
    await bench.remember("User has a dog called Rex")
    bench.provider.verdicts = about_first(bench, same=True, text="User has a labrador")
    await curator(bench).curate(bench.batch("User has a dog that is a labrador", policy="resolving"))
    said = " ".join(each.text for each in await bench.memories.in_namespace("n"))
    assert "Rex" in said
    assert "labrador" in said


async def test_the_same_statement_in_another_language_reinforces_the_memory(bench: "Bench") -> None:
    known = await bench.remember("User lives in Turku", language="en")
    bench.provider.verdicts = about_first(bench, same=True)
    said = bench.candidate("User wohnt in Turku", language="de")
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert (after.memory_id, after.text, after.reinforcement_count) == (known.memory_id, known.text, 1)


async def test_the_same_statement_in_another_language_is_matched_without_a_vector_index_hit(bench: "Bench") -> None:
    """Covers embedders with low similarity between languages; names lead from one to the other."""
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


async def test_a_model_verdict_across_languages_is_rejected_when_numbers_differ(bench: "Bench") -> None:
    known = await bench.remember("User has 2 cats", language="en")
    bench.provider.verdicts = about_first(bench, same=True)
    said = bench.candidate("Zuhause leben 3 Katzen", language="de")
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    assert {each.text for each in await bench.memories.in_namespace("n")} == {known.text, said.text}


async def test_under_a_one_language_policy_a_memory_is_rewritten_from_another_language_with_both_contents(
    bench: "Bench",
) -> None:
    known = await bench.remember("Der Hund des Nutzers heißt Rex", language="de")
    both = "User's dog is called Rex and is a labrador"
    bench.provider.verdicts = about_first(bench, same=True, text=both)
    said = bench.candidate("User's Rex is a labrador", language="en")
    outcome = await curator(bench).curate(bench.batch(said, policy="english"))
    (after,) = await bench.memories.in_namespace("n")
    assert [ruling.result for ruling in outcome.rulings] == ["merged"]
    assert (after.memory_id, after.text, after.language) == (known.memory_id, both, "en")
    assert {each.message_id for each in after.sources} > {each.message_id for each in known.sources}


async def test_under_a_one_language_policy_a_text_that_loses_a_number_is_rejected(bench: "Bench") -> None:
    known = await bench.remember("Der Nutzer hat 2 Katzen aus Turku", language="de")
    bench.provider.verdicts = about_first(bench, same=True, text="User has cats from Turku, both black")
    said = bench.candidate("User's cats from Turku are both black", language="en")
    await curator(bench).curate(bench.batch(said, policy="english"))
    assert known.text in {each.text for each in await bench.memories.in_namespace("n")}


async def test_a_detail_in_another_language_is_added_in_the_language_of_the_memory(bench: "Bench") -> None:
    known = await bench.remember("User has a dog called Rex", language="en")
    both = "User has a dog called Rex, a labrador"
    bench.provider.verdicts = about_first(bench, same=True, text=both)
    said = bench.candidate("Rex ist ein Labrador", language="de")
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert (after.memory_id, after.text, after.language) == (known.memory_id, both, "en")


async def test_a_candidate_replaces_an_earlier_candidate_of_its_slice_that_it_corrects(bench: "Bench") -> None:
    first, second = bench.candidate("User takes the jacket in medium"), bench.candidate("User always takes large")
    bench.provider.verdicts = lambda said, known: (
        Verdict(candidate_id=second.candidate_id, corrects=(first.candidate_id,)),
    )
    await curator(bench).curate(bench.batch(first, second, policy="resolving"))
    assert [each.text for each in await bench.memories.in_namespace("n")] == [second.text]


async def test_the_combined_texts_of_all_verdicts_are_embedded_together(bench: "Bench") -> None:
    pets = {
        "Rex": await bench.remember("User has a dog called Rex"),
        "Mia": await bench.remember("User has a cat called Mia"),
    }
    both = {"Rex": "User has a dog called Rex, a labrador", "Mia": "User has a cat called Mia, a siamese"}
    said = {
        "Rex": bench.candidate("User's dog called Rex is a labrador"),
        "Mia": bench.candidate("User's cat called Mia is a siamese"),
    }
    bench.provider.verdicts = lambda candidates, memories: tuple(
        Verdict(candidate_id=each.candidate_id, same=pets[name].memory_id, text=both[name])
        for name, each in said.items()
    )
    recorder = RecordingEmbedder()
    await curator(bench, recorder).curate(bench.batch(*said.values(), policy="resolving"))
    assert {each.text for each in await bench.memories.in_namespace("n")} == set(both.values())
    assert recorder.batches == [{each.text for each in said.values()}, set(both.values())]


async def test_a_memory_holds_until_the_day_that_a_verdict_names(bench: "Bench") -> None:
    june = datetime(2026, 6, 1, tzinfo=UTC)
    gym = await bench.remember("User trains at FitPoint")
    bench.provider.verdicts = about_first(bench, ends=(gym.memory_id,), until=june)
    outcome = await curator(bench).curate(bench.batch("User's FitPoint contract runs out", policy="resolving"))
    later = bench.curator_under(Policies(), clock=lambda: june)
    assert await bench.curator.expire() == 0
    live = {each.memory_id: each.valid_until for each in await bench.memories.in_namespace("n")}
    assert live == {gym.memory_id: june, outcome.rulings[0].memory_id: None}
    assert await later.expire() == 1
    (over,) = await bench.memories.in_namespace("n", statuses=("superseded",))
    assert (over.memory_id, over.valid_until) == (gym.memory_id, june)
    assert [(each.data.change, each.data.cause.reason) for each in bench.events() if each.subject == gym.memory_id] == [
        ("created", None),
        ("updated", "the candidate contradicts it, from 2026-06-01"),
        ("superseded", "validity ended"),
    ]


async def test_a_memory_that_is_taken_back_ends_with_this_cause_and_an_undo_restores_it(bench: "Bench") -> None:
    joke = await bench.remember("User has a pet crocodile")
    bench.provider.verdicts = about_first(bench, untrue=(joke.memory_id,))
    outcome = await curator(bench).curate(bench.batch("User has no crocodile", policy="resolving"))
    assert outcome.rulings[0].result == "superseded"
    taken_back = await bench.memories.get(joke.memory_id)
    assert taken_back is not None
    assert (taken_back.status, taken_back.valid_until) == ("superseded", joke.valid_from), "it never held"
    assert bench.events()[-1].data.cause.reason == UNTRUE
    undo = Command(command_id="u", kind="undo", namespace="n", at=NOON, memory_id=joke.memory_id)
    await bench.curator.apply_command(undo)
    restored = await bench.memories.get(joke.memory_id)
    assert restored is not None and (restored.status, restored.valid_until) == ("active", None)


async def test_a_redelivered_batch_ends_memories_on_the_same_day(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    june = datetime(2026, 6, 1, tzinfo=UTC)
    gym = await bench.remember("User trains at FitPoint")
    bench.provider.verdicts = about_first(bench, ends=(gym.memory_id,), until=june)
    batch = bench.batch("User's FitPoint contract runs out", policy="resolving")
    with monkeypatch.context() as broken, pytest.raises(Retryable):
        broken.setattr("agents.curation.curator.close_ledger", store_is_away)
        await curator(bench).curate(batch)
    await curator(bench).curate(batch)
    after = await bench.memories.get(gym.memory_id)
    assert after is not None and after.valid_until == june
    assert bench.provider.call_counts["resolve"] == 1


async def test_verdicts_of_an_earlier_version_stay_valid(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    said = bench.candidate("User has moved house")
    batch = bench.batch(said, policy="resolving")
    stored = [{"candidate_id": said.candidate_id, "ends": [home.memory_id]}]
    await Resolutions(bench.pool).keep(batch, stored, NOON)
    await curator(bench).curate(batch)
    assert [each.text for each in await bench.memories.in_namespace("n")] == [said.text]
    assert bench.provider.call_counts["resolve"] == 0


async def test_a_verdict_lets_no_temporary_candidate_take_back_another_of_its_slice(bench: "Bench") -> None:
    home = bench.candidate("User lives in Graz")
    stay = bench.candidate("User is in Split", valid_until=bench.now() + timedelta(days=60))
    bench.provider.verdicts = lambda said, known: (
        Verdict(candidate_id=stay.candidate_id, corrects=(home.candidate_id,)),
    )
    await curator(bench).curate(bench.batch(home, stay, policy="resolving"))
    assert {each.text for each in await bench.memories.in_namespace("n")} == {home.text, stay.text}


async def test_a_redelivered_batch_sends_no_second_model_request(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.remember("User lives in Turku")
    bench.provider.verdicts = about_first(bench, ends=())
    batch = bench.batch("User lives in a house", policy="resolving")
    with monkeypatch.context() as broken, pytest.raises(Retryable):
        broken.setattr("agents.curation.curator.close_ledger", store_is_away)
        await curator(bench).curate(batch)
    await curator(bench).curate(batch)
    await curator(bench).curate(batch)
    assert bench.provider.call_counts["resolve"] == 1


async def test_the_rules_decide_without_a_model_answer(bench: "Bench") -> None:
    home = await bench.remember("User lives in Turku")
    bench.provider.failures.append(Retryable("away"))
    await curator(bench).curate(bench.batch("User lives in Oulu", policy="resolving"))
    (after,) = await bench.memories.in_namespace("n")
    assert (after.text, after.supersedes) == ("User lives in Oulu", home.memory_id)


async def test_no_model_request_is_sent_when_there_is_nothing_to_compare(bench: "Bench") -> None:
    await curator(bench).curate(bench.batch("User lives in Turku", policy="resolving"))
    known = bench.candidate("User lives in Turku")
    await curator(bench).curate(bench.batch(replace(known, candidate_id="again"), policy="resolving"))
    assert bench.provider.call_counts["resolve"] == 0


async def test_candidates_without_anything_near_are_not_sent_to_the_model(bench: "Bench") -> None:
    await bench.remember("User has a dog called Rex")
    said = ("User has a dog called Bello", "Deployments take place on Fridays", "Lunch costs nine euros")
    asked: list[str] = []

    def verdicts(candidates: Sequence[Candidate], known: Sequence[Memory]) -> tuple[Verdict, ...]:
        asked.extend(each.text for each in candidates)
        return ()

    bench.provider.verdicts = verdicts
    await curator(bench).curate(bench.batch(*said, policy="resolving"))
    assert asked == ["User has a dog called Bello"]


async def test_a_memory_that_is_far_but_not_unrelated_is_shown_to_the_model(bench: "Bench") -> None:
    known, said = "User does long runs on Sundays", "User gave up running after the operation on Monday"
    embedder = FakeEmbedder()
    one, other = await embedder.embed([known, said])
    limits = thresholds(embedder.model, RESOLVING)
    assert unrelated(limits.comparable) < float(one @ other) < limits.comparable
    await bench.remember(known)
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    assert bench.provider.call_counts["resolve"] == 1


async def test_no_model_request_is_sent_when_candidates_name_all_memories_near_them(bench: "Bench") -> None:
    known = await bench.remember("User has a dog called Rex")
    said = bench.candidate("User has a dog called Bello, not Rex", contradicts=known.memory_id)
    await curator(bench).curate(bench.batch(said, policy="resolving"))
    assert bench.provider.call_counts["resolve"] == 0
