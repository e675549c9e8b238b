"""A model compares candidates with near memories; a confident verdict supersedes a memory that no rule would."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.forecast import Forecast
from agents.curation.resolver import Resolver
from agents.models.port import Verdict
from schemas.extraction.candidates import Source
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies, Policy
from sinks.classification.port import Pair, Relation
from sinks.memories.resolutions import Resolutions
from tests.fakes.comparer import ENDS, FakeComparer
from tests.fakes.embedder import FakeEmbedder

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

OLD = "User keeps bees behind the barn"
NEW = "User handed the bees behind the barn to a neighbour"


def curator(
    bench: "Bench", comparer: FakeComparer, policies: Policies | None = None, resolver: Resolver | None = None
) -> Curator:
    embedder = FakeEmbedder()
    return Curator(
        bench.pool,
        bench.vectors,
        embedder,
        bench.projector,
        policies or Policies(),
        bench.now,
        Compactor(bench.provider, embedder),
        Editor(bench.provider),
        comparer=comparer,
        resolver=resolver,
    )


async def test_a_memory_is_superseded_when_the_model_judges_it_replaced(bench: "Bench") -> None:
    known = await bench.remember(OLD)
    outcome = await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(NEW))
    assert [each.result for each in outcome.rulings] == ["superseded"]
    ended = await bench.memories.get(known.memory_id)
    assert ended is not None
    assert (ended.status, ended.superseded_by) == ("superseded", outcome.rulings[0].memory_id)


async def test_a_memory_that_a_language_model_names_keeps_the_clauses_that_hold(bench: "Bench") -> None:
    known = await bench.remember("User is allergic to peanuts and keeps bees behind the barn.")
    comparer = FakeComparer({("keeps bees behind the barn", NEW): ENDS})
    said = bench.candidate(NEW, supersedes=(known.memory_id,))
    outcome = await curator(bench, comparer).curate(bench.batch(said))
    assert [each.result for each in outcome.rulings] == ["created"]
    kept = await bench.memories.get(known.memory_id)
    assert kept is not None
    assert (kept.status, kept.text) == ("active", "User is allergic to peanuts.")


async def test_a_memory_stays_active_when_the_model_is_unsure(bench: "Bench") -> None:
    known = await bench.remember(OLD)
    doubtful = FakeComparer({(OLD, NEW): Relation(0.65, 0.3, 0.05)})
    outcome = await curator(bench, doubtful).curate(bench.batch(NEW))
    assert [each.result for each in outcome.rulings] == ["created"]
    kept = await bench.memories.get(known.memory_id)
    assert kept is not None
    assert kept.status == "active"


async def test_a_later_candidate_supersedes_an_earlier_one_of_the_same_batch(bench: "Bench") -> None:
    outcome = await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(OLD, NEW))
    assert [each.result for each in outcome.rulings] == ["created", "superseded"]


async def test_each_pair_is_compared_once(bench: "Bench") -> None:
    await bench.remember(OLD)
    comparer = FakeComparer()
    await curator(bench, comparer).curate(bench.batch(NEW))
    assert [tuple(each) for each in comparer.compared] == [(OLD, NEW)]


async def test_a_statement_that_is_known_is_not_compared(bench: "Bench") -> None:
    await bench.remember(OLD)
    comparer = FakeComparer()
    outcome = await curator(bench, comparer).curate(bench.batch(OLD))
    assert outcome.rulings[0].result == "reinforced"
    assert comparer.compared == []


@pytest.mark.parametrize(("memory", "candidate"), [("en", "pt"), ("pt", "en"), ("pt", "pt")])
async def test_statements_in_languages_that_the_model_does_not_read_are_not_compared(
    bench: "Bench", memory: str, candidate: str
) -> None:
    await bench.remember(OLD, language=memory)
    comparer = FakeComparer()
    await curator(bench, comparer).curate(bench.batch(bench.candidate(NEW, language=candidate)))
    assert comparer.compared == []


@pytest.mark.parametrize(
    ("memory", "candidate"),
    [("en-GB", "en-GB"), (None, None), ("de", "de"), ("und", "und"), ("en", "fr"), ("es", "en")],
)
async def test_statements_in_languages_that_the_model_reads_are_compared(
    bench: "Bench", memory: str | None, candidate: str | None
) -> None:
    await bench.remember(OLD, language=memory)
    comparer = FakeComparer()
    await curator(bench, comparer).curate(bench.batch(bench.candidate(NEW, language=candidate)))
    assert [tuple(each) for each in comparer.compared] == [(OLD, NEW)]


async def test_a_statement_of_an_assistant_ends_no_memory_of_a_user(bench: "Bench") -> None:
    await bench.remember(OLD)
    source = Source(conversation_id="c", message_id="answer", timestamp=bench.now(), attributed_to="assistant")
    said = bench.candidate(NEW, sources=(source,))
    outcome = await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(said))
    assert [each.result for each in outcome.rulings] == ["created"]


async def test_a_temporary_state_does_not_end_a_lasting_memory(bench: "Bench") -> None:
    known = await bench.remember(OLD)
    until = bench.candidate(NEW, valid_until=bench.now().replace(month=12))
    await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(until))
    kept = await bench.memories.get(known.memory_id)
    assert kept is not None
    assert kept.status == "active"


async def test_an_older_candidate_does_not_end_a_newer_memory_and_both_stay(bench: "Bench") -> None:
    known = await bench.remember(OLD)
    said = Source(conversation_id="c", message_id="late", timestamp=bench.now() - timedelta(days=30))
    late = bench.candidate(NEW, sources=(said,))
    outcome = await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(late))
    assert [each.result for each in outcome.rulings] == ["created"]
    kept = await bench.memories.get(known.memory_id)
    assert kept is not None
    assert kept.status == "active"


async def test_the_rules_alone_decide_if_the_model_fails(bench: "Bench", caplog: pytest.LogCaptureFixture) -> None:
    class Broken(FakeComparer):
        async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
            raise RuntimeError("out of memory")

    await bench.remember(OLD)
    outcome = await curator(bench, Broken()).curate(bench.batch(NEW))
    assert [each.result for each in outcome.rulings] == ["created"]
    assert "the rules alone decide" in caplog.text


async def test_a_merged_text_is_compared_with_the_other_candidates_of_its_batch(bench: "Bench") -> None:
    await bench.remember("User has a dog called Rex")
    both = "User has a dog called Rex, a labrador"
    bench.provider.verdicts = lambda said, known: (
        Verdict(candidate_id=said[0].candidate_id, same=known[0].memory_id, text=both),
    )
    resolver = Resolver(bench.provider, Resolutions(bench.pool), bench.now)
    resolving = curator(bench, FakeComparer(), Policies((Policy(name="resolving", resolve=True),)), resolver)
    said = ("User's dog called Rex is a labrador", "User has a cat called Tom")
    outcome = await resolving.curate(bench.batch(*said, policy="resolving"))
    assert [each.result for each in outcome.rulings] == ["merged", "created"]


async def test_a_forecast_compares_candidates_with_its_own_earlier_predictions(bench: "Bench") -> None:
    comparer = FakeComparer({(OLD, NEW): ENDS})
    forecast = Forecast(bench.pool, bench.vectors, FakeEmbedder(), Editor(bench.provider), bench.now, comparer)
    await forecast.decide(bench.batch(OLD), Policies().by_name("default"))
    result = await forecast.decide(bench.batch(NEW), Policies().by_name("default"))
    assert [each.result for each in result.rulings] == ["superseded"]


async def test_a_forecast_predicts_supersessions_decided_by_the_model(bench: "Bench") -> None:
    await bench.remember(OLD)
    comparer = FakeComparer({(OLD, NEW): ENDS})
    forecast = Forecast(bench.pool, bench.vectors, FakeEmbedder(), Editor(bench.provider), bench.now, comparer)
    result = await forecast.decide(bench.batch(NEW), Policies().by_name("default"))
    assert [each.result for each in result.rulings] == ["superseded"]


async def test_one_candidate_shortens_all_memories_of_which_it_ends_a_clause(bench: "Bench") -> None:
    kept = [f"User feeds goat number {number} daily" for number in range(6)]
    known = [await bench.remember(f"{each}, keeps bees behind the barn") for each in kept]
    clause = {("keeps bees behind the barn", NEW): ENDS}
    comparer = FakeComparer({(each.text, NEW): ENDS for each in known} | clause)
    await curator(bench, comparer).curate(bench.batch(NEW))
    assert [(await memory_of(bench, each.memory_id)).text for each in known] == kept


async def test_a_forecast_predicts_that_a_memory_is_shortened(bench: "Bench") -> None:
    known = await bench.remember("User feeds the goat daily, keeps bees behind the barn")
    comparer = FakeComparer({(known.text, NEW): ENDS, ("keeps bees behind the barn", NEW): ENDS})
    forecast = Forecast(bench.pool, bench.vectors, FakeEmbedder(), Editor(bench.provider), bench.now, comparer)
    result = await forecast.decide(bench.batch(NEW), Policy(name="default"))
    assert [each.result for each in result.rulings] == ["created"]
    assert [each.after.text for each in result.entries] == [NEW, "User feeds the goat daily"]


async def memory_of(bench: "Bench", memory_id: str) -> Memory:
    memory = await bench.memories.get(memory_id)
    assert memory is not None
    return memory


async def test_of_several_memories_only_the_nearest_ends_as_a_whole(bench: "Bench") -> None:
    near, far = await bench.remember(OLD), await bench.remember("User keeps a goat behind the house")
    comparer = FakeComparer({(near.text, NEW): ENDS, (far.text, NEW): ENDS})
    await curator(bench, comparer).curate(bench.batch(NEW))
    assert {tuple(each) for each in comparer.compared} >= {(near.text, NEW), (far.text, NEW)}
    assert [(await memory_of(bench, each.memory_id)).status for each in (near, far)] == ["superseded", "active"]


async def test_statements_of_one_message_do_not_end_each_other(bench: "Bench") -> None:
    first = bench.candidate(OLD)
    comparer = FakeComparer({(OLD, NEW): ENDS, (NEW, OLD): ENDS})
    outcome = await curator(bench, comparer).curate(bench.batch(first, bench.candidate(NEW, sources=first.sources)))
    assert [each.result for each in outcome.rulings] == ["created", "created"]
    assert comparer.compared == []


SAME = Relation(0.02, 0.03, 0.95)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("User keeps bees and eats no honey", "User keeps bees and wants honey-free food"),  # negation
        ("User keeps bees behind the barn", "User has hives at the back of the barn"),  # a low cosine
    ],
)
async def test_a_repetition_that_both_models_find_reinforces_the_memory(bench: "Bench", known: str, said: str) -> None:
    memory = await bench.remember(known)
    batch = bench.batch(bench.candidate(said, repeats=memory.memory_id))
    forecasts = [
        await Forecast(
            bench.pool, bench.vectors, FakeEmbedder(), Editor(bench.provider), bench.now, FakeComparer(relations)
        ).decide(batch, Policy(name="default"))
        for relations in ({}, {(known, said): SAME})
    ]
    assert [each.rulings[0].result for each in forecasts] == ["created", "reinforced"]


async def test_a_repetition_that_both_models_find_still_needs_the_same_numbers(bench: "Bench") -> None:
    known = await bench.remember("User keeps 20 bees behind the barn")
    said = "User keeps 30 bees behind the barn"
    comparer = FakeComparer({(known.text, said): SAME})
    outcome = await curator(bench, comparer).curate(bench.batch(bench.candidate(said, repeats=known.memory_id)))
    assert outcome.rulings[0].memory_id != known.memory_id
