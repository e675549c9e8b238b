"""A model compares candidates with the memories near them, and what it is sure of ends a memory that no rule would end."""

from typing import TYPE_CHECKING

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.forecast import Forecast
from schemas.extraction.candidates import Source
from schemas.policies.policies import Policies
from sinks.comparison.port import Relation
from sinks.embeddings.fake import FakeEmbedder
from tests.fakes.comparer import ENDS, FakeComparer

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

OLD = "User keeps bees behind the barn"
NEW = "User handed the bees behind the barn to a neighbour"


def curator(bench: "Bench", comparer: FakeComparer) -> Curator:
    embedder = FakeEmbedder()
    return Curator(
        bench.pool,
        bench.vectors,
        embedder,
        bench.projector,
        Policies(),
        bench.now,
        Compactor(bench.provider, embedder),
        Editor(bench.provider),
        comparer=comparer,
    )


async def test_a_memory_ends_that_the_model_takes_to_be_replaced(bench: "Bench") -> None:
    known = await bench.remember(OLD)
    outcome = await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(NEW))
    assert [each.result for each in outcome.rulings] == ["superseded"]
    ended = await bench.memories.get(known.memory_id)
    assert ended is not None
    assert (ended.status, ended.superseded_by) == ("superseded", outcome.rulings[0].memory_id)


async def test_a_memory_stays_that_the_model_is_not_sure_of(bench: "Bench") -> None:
    known = await bench.remember(OLD)
    doubtful = FakeComparer({(OLD, NEW): Relation(0.85, 0.1, 0.05)})
    outcome = await curator(bench, doubtful).curate(bench.batch(NEW))
    assert [each.result for each in outcome.rulings] == ["created"]
    kept = await bench.memories.get(known.memory_id)
    assert kept is not None
    assert kept.status == "active"


async def test_a_later_candidate_of_a_part_ends_an_earlier_one(bench: "Bench") -> None:
    outcome = await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(OLD, NEW))
    assert [each.result for each in outcome.rulings] == ["created", "superseded"]


async def test_each_pair_is_compared_once(bench: "Bench") -> None:
    await bench.remember(OLD)
    comparer = FakeComparer()
    await curator(bench, comparer).curate(bench.batch(NEW))
    assert [tuple(each) for each in comparer.asked] == [(OLD, NEW)]


async def test_a_statement_that_is_known_is_not_compared(bench: "Bench") -> None:
    await bench.remember(OLD)
    comparer = FakeComparer()
    outcome = await curator(bench, comparer).curate(bench.batch(OLD))
    assert outcome.rulings[0].result == "reinforced"
    assert comparer.asked == []


async def test_statements_in_another_language_are_not_compared(bench: "Bench") -> None:
    await bench.remember("Der Nutzer hält Bienen hinter der Scheune", language="de")
    comparer = FakeComparer()
    said = bench.candidate("Der Nutzer gab die Bienen hinter der Scheune dem Nachbarn", language="de")
    await curator(bench, comparer).curate(bench.batch(said))
    assert comparer.asked == []


async def test_what_an_assistant_says_ends_nothing_that_a_user_said(bench: "Bench") -> None:
    await bench.remember(OLD)
    source = Source(conversation_id="c", message_id="answer", timestamp=bench.now(), attributed_to="assistant")
    said = bench.candidate(NEW, sources=(source,))
    outcome = await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(said))
    assert [each.result for each in outcome.rulings] == ["created"]


async def test_a_temporary_state_ends_no_lasting_one(bench: "Bench") -> None:
    known = await bench.remember(OLD)
    until = bench.candidate(NEW, valid_until=bench.now().replace(month=12))
    await curator(bench, FakeComparer({(OLD, NEW): ENDS})).curate(bench.batch(until))
    kept = await bench.memories.get(known.memory_id)
    assert kept is not None
    assert kept.status == "active"


async def test_a_forecast_predicts_what_the_model_ends(bench: "Bench") -> None:
    await bench.remember(OLD)
    comparer = FakeComparer({(OLD, NEW): ENDS})
    forecast = Forecast(bench.pool, bench.vectors, FakeEmbedder(), Editor(bench.provider), bench.now, comparer)
    result = await forecast.decide(bench.batch(NEW), Policies().by_name("default"))
    assert [each.result for each in result.rulings] == ["superseded"]
