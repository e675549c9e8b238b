"""Memories and passages in one ranking."""

from datetime import UTC, datetime

from msgspec.structs import replace

from agents.retrieval.passage_ranking import CosineScale
from agents.retrieval.tiers import best_of, merged
from schemas.memories.memories import Source
from schemas.passages.passages import Passage
from schemas.retrieval.searches import Hit, Parts, SaidHit
from tests.builders.memories import a_memory

SCALE = CosineScale(start=0.0, span=1.0, floor=0.0, least_range=0.5)
AT = datetime(2026, 3, 2, tzinfo=UTC)


def passage(message: str, cosine: float) -> SaidHit:
    said = Passage(
        passage_id=message,
        namespace="app/ada",
        conversation_id="talk",
        message_id=message,
        role="user",
        speaker="ada",
        said_at=AT,
        text=message,
    )
    return SaidHit(score=cosine, passage=said, cosine=cosine)


def memory(memory_id: str, cosine: float, *messages: str) -> Hit:
    sources = tuple(Source(conversation_id="talk", message_id=message) for message in messages)
    return Hit(
        score=cosine, memory=a_memory(memory_id, AT, memory_id=memory_id, sources=sources), parts=Parts(cosine=cosine)
    )


def shown(hits: list[Hit], said: list[SaidHit]) -> list[str]:
    return [
        hit.memory.memory_id if isinstance(hit, Hit) else hit.passage.message_id
        for hit in merged(hits, said, SCALE, SCALE)
    ]


def test_a_memory_that_is_nearly_as_relevant_as_its_source_passage_is_shown_at_the_position_of_the_passage() -> None:
    said = [passage("m1", 0.9), passage("m2", 0.6), passage("m3", 0.5)]
    assert shown([memory("better", 0.8, "m2")], said) == ["m1", "better", "m3"]
    assert shown([memory("nearly", 0.5, "m2")], said) == ["m1", "nearly", "m3"]
    assert shown([memory("worse", 0.4, "m2")], said) == ["m1", "m2", "m3"]


def test_a_memory_that_is_more_relevant_than_an_irrelevant_source_is_shown_in_its_place() -> None:
    assert shown([memory("better", -0.04, "m1")], [passage("m1", -0.05)]) == ["better"]


def test_a_memory_of_several_messages_replaces_all_their_passages() -> None:
    said = [passage("m1", 0.9), passage("m2", 0.6), passage("m3", 0.5)]
    assert shown([memory("both", 0.7, "m3", "m2")], said) == ["m1", "both"]


def test_several_memories_that_score_above_their_common_message_are_all_shown() -> None:
    assert shown([memory("a", 0.8, "m1"), memory("b", 0.7, "m1")], [passage("m1", 0.6)]) == ["a", "b"]


def test_a_memory_without_found_sources_is_placed_by_its_score() -> None:
    said = [passage("m1", 0.9), passage("m2", 0.5)]
    assert shown([memory("imported", 0.7), memory("weak", 0.2)], said) == ["m1", "imported", "m2", "weak"]


def test_of_equal_scores_memories_come_first_and_each_tier_keeps_its_order() -> None:
    hits, said = [memory("b", 0.5), memory("a", 0.5)], [passage("m2", 0.5), passage("m1", 0.5)]
    assert shown(hits, said) == ["b", "a", "m2", "m1"]


def test_a_memory_without_found_sources_follows_every_higher_scored_passage() -> None:
    said = [passage("said then", 0.3), passage("m2", 0.9), passage("m3", 0.4)]
    assert shown([memory("imported", 0.6)], said) == ["said then", "m2", "imported", "m3"]


def test_the_best_memory_takes_the_last_place_if_no_memory_is_among_the_hits() -> None:
    said = [passage("m1", 0.9), passage("m2", 0.8), passage("m3", 0.7)]
    both = merged([memory("best", 0.3), memory("other", 0.2)], said, SCALE, SCALE)
    assert [hit.score for hit in best_of(both, 2)] == [0.9, 0.3]
    assert [hit.score for hit in best_of(both, 4)] == [0.9, 0.8, 0.7, 0.3]
    assert [hit.score for hit in best_of(both, 1)] == [0.9]
    assert [hit.score for hit in best_of(said, 2)] == [0.9, 0.8]
    relevant = merged([memory("relevant", 0.85), memory("other", 0.2)], said, SCALE, SCALE)
    assert [hit.score for hit in best_of(relevant, 2)] == [0.9, 0.85]


def test_cosines_of_two_models_are_compared_on_their_own_scales() -> None:
    of_passages = CosineScale(start=0.7, span=0.2, floor=0.0, least_range=0.1)
    near, far = memory("near", 0.6), memory("far", 0.3)
    assert [
        hit.memory.memory_id if isinstance(hit, Hit) else hit.passage.message_id
        for hit in merged([near, far], [passage("m1", 0.8)], SCALE, of_passages)
    ] == ["near", "m1", "far"]


def test_without_passages_memories_keep_their_order() -> None:
    assert shown([memory("first", 0.5, "m1"), memory("second", 0.4)], []) == ["first", "second"]


def test_a_joined_hit_stays_when_a_memory_replaces_the_main_hit() -> None:
    soup, curry = passage("soup", 0.5), passage("curry", 0.6)
    joined = replace(curry, neighbours=(soup.passage,), joined=(soup,))
    assert shown([memory("curry too", 0.9, "curry")], [joined]) == ["curry too", "soup"]
    assert shown([memory("both", 0.9, "curry", "soup")], [joined]) == ["both"]
    only_beside = replace(curry, neighbours=(soup.passage,))
    assert shown([memory("curry too", 0.9, "curry")], [only_beside]) == ["curry too"]


def test_a_memory_and_its_source_as_a_neighbour_are_not_shown_together() -> None:
    reply = replace(passage("reply", 0.6), neighbours=(passage("question", 0.0).passage,))
    assert shown([memory("worse", 0.4, "question")], [reply]) == ["reply"]
    better, alone = merged([memory("better", 0.8, "question")], [reply], SCALE, SCALE)
    assert isinstance(better, Hit) and isinstance(alone, SaidHit)
    assert [each.message_id for each in alone.exchange] == ["reply"]
