"""Passages in context blocks: day and speaker, bounded share, no repetition."""

import pytest
from msgspec.structs import replace

from agents.retrieval.block_style import SAID_HEADING, TAIL_HEADING
from schemas.errors import Rejected
from schemas.extraction.candidates import Source
from schemas.retrieval.searches import SaidHit
from tests.unit.retrieval.blocks import BARE, built_block, hits, passages, said
from tests.unit.retrieval.conftest import MakeMemory


def test_passages_with_day_and_speaker_stand_between_memories_and_recent_messages(memory: MakeMemory):
    earlier = passages("We took\nthe night train.", "It was late.")[::-1]
    answer = built_block(hits(memory("Ada likes trains.")), said(("user", "And now?")), BARE, earlier=earlier)
    assert answer.text.split("\n") == [
        *("Ada likes trains.", "", SAID_HEADING, "- 2026-03-02, ada: We took the night train."),
        *("- 2026-03-03, ada: It was late.", "", TAIL_HEADING, "user: And now?"),
    ]
    assert [(each.message_id, each.text) for each in answer.said] == [
        ("trip-1", "We took\nthe night train."),
        ("trip-2", "It was late."),
    ]


def test_what_a_guest_said_stands_in_the_block_under_the_name_of_the_guest():
    (hit,) = passages("I am allergic to peanuts.")
    guest = replace(hit, passage=replace(hit.passage, speaker="user", name="Carl"))
    answer = built_block(earlier=[guest])
    assert answer.text.endswith("- 2026-03-02, Carl (user): I am allergic to peanuts.")
    assert [(each.speaker, each.name) for each in answer.said] == [("user", "Carl")]


def test_a_passage_is_cited_by_the_beginning_of_its_id(memory: MakeMemory):
    answer = built_block(hits(memory()), style=replace(BARE, cite=True), earlier=passages("We took the train."))
    assert answer.said[0].reference == "00000001"
    assert answer.text.endswith("ada: We took the train. [00000001]")
    uncited = built_block(hits(memory()), style=BARE, earlier=passages("We took the train."))
    assert uncited.text.endswith("We took the train.")


def test_a_passage_that_repeats_a_memory_of_the_block_is_left_out(memory: MakeMemory):
    source = (Source(conversation_id="trip", message_id="trip-1"),)
    peanuts = memory("User is allergic to peanuts since 2019-05-01.", sources=source)
    assert built_block(hits(peanuts), earlier=passages("I'm allergic to peanuts since May.")).said == ()
    longer = "I'm allergic to peanuts, and my brother Tom, who lives in Porto, cannot eat shellfish or drink milk."
    assert len(built_block(hits(peanuts), earlier=passages(longer)).said) == 1, "it says more than the memory"
    elsewhere = memory("User is allergic to peanuts since 2019-05-01.")
    assert len(built_block(hits(elsewhere), earlier=passages("I'm allergic to peanuts since May.")).said) == 1
    assert built_block(hits(elsewhere), earlier=passages("I am allergic to peanuts.")).said == (), (
        "word for word the same"
    )
    assert len(built_block((), earlier=passages("I am allergic to peanuts.")).said) == 1


def test_a_passage_of_a_recent_message_is_left_out():
    tail = said(("user", "We took the night train."))
    assert (
        built_block(
            tail=tail, earlier=passages("We took the night train.", conversation_id="talk", message_id="m1")
        ).said
        == ()
    )


def test_passages_keep_their_share_beside_many_messages_and_memories(memory: MakeMemory):
    tail = said(*(("user", f"Message {number} of ten words that are all said here.") for number in range(30)))
    many = hits(*(memory(f"Memory {number} of five words.") for number in range(30)))
    earlier = passages(*(f"Passage number {number} of seven words." for number in range(20)))
    crowded = built_block(many, tail, BARE, earlier=earlier, max_tokens=200, max_memories=30, max_said=20)
    tokens = sum(each.tokens for each in crowded.said)
    assert len(crowded.messages) > 3 and len(crowded.memories) > 3 and 30 <= tokens <= 60
    assert crowded.said_left_out == 20 - len(crowded.said)
    roomy = built_block(many[:2], (), BARE, earlier=earlier, max_tokens=200, max_said=20)
    assert sum(each.tokens for each in roomy.said) > 100, "room that is left goes to them"


def test_the_number_of_passages_is_bounded(memory: MakeMemory):
    earlier = passages(*(f"Passage {number}." for number in range(9)))
    assert [each.text for each in built_block(earlier=earlier, max_said=2).said] == ["Passage 0.", "Passage 1."]
    assert built_block(earlier=earlier, max_said=0).text == ""


def test_a_budget_too_small_for_a_passage_is_refused_with_the_sizes():
    with pytest.raises(Rejected, match="the passages' heading 10, the shortest passage 9"):
        built_block(earlier=passages("We took the night train."), max_tokens=9)


def asked_and_answered() -> list[SaidHit]:
    question, answered, other = passages("Which dish did you cook?", "The soup.", "It was late.")
    return [replace(answered, passage=replace(answered.passage, ordinal=1), neighbours=(question.passage,)), other]


def test_a_neighbour_of_a_passage_has_its_own_line_with_its_speaker():
    answer = built_block(style=replace(BARE, cite=True), earlier=asked_and_answered(), max_said=2)
    assert answer.text.split("\n") == [
        SAID_HEADING,
        "- 2026-03-02, ada: Which dish did you cook? [00000001]",
        "- 2026-03-03, ada: The soup. [00000002]",
        "- 2026-03-04, ada: It was late. [00000003]",
    ]
    assert [each.neighbour_of for each in answer.said] == ["00000002-passage", None, None]
    assert sum(each.tokens for each in answer.said) + len(SAID_HEADING.split()) == answer.tokens
    assert (answer.said_left_out, len(built_block(earlier=asked_and_answered(), max_said=1).said)) == (0, 2)


def test_a_neighbour_among_the_recent_messages_is_not_repeated():
    (hit, _) = asked_and_answered()
    there = replace(hit.neighbours[0], conversation_id="talk", message_id="m1")
    tail = said(("user", "Which dish did you cook?"))
    answer = built_block(tail=tail, earlier=[replace(hit, neighbours=(there,))])
    assert [each.text for each in answer.said] == ["The soup."]


def test_a_passage_whose_neighbour_does_not_fit_is_shown_without_it():
    answer = built_block(earlier=asked_and_answered()[:1], max_tokens=len(SAID_HEADING.split()) + 8)
    assert [each.text for each in answer.said] == ["The soup."]


def soup_and_curry() -> list[SaidHit]:
    soup, curry = passages("I made a soup of plums.", "And a curry.")
    curry = replace(curry, passage=replace(curry.passage, ordinal=1))
    return [replace(curry, neighbours=(soup.passage,), joined=(soup,))]


def test_a_hit_joined_as_a_neighbour_stays_when_a_memory_replaces_the_main_hit(memory: MakeMemory):
    source = (Source(conversation_id="trip", message_id="trip-2"),)
    curry = memory("User made a curry.", sources=source)
    answer = built_block(hits(curry), earlier=soup_and_curry())
    assert [(each.message_id, each.neighbour_of) for each in answer.said] == [("trip-1", None)]
    assert answer.said_left_out == 0
    both = memory("User made a curry and a soup of plums.", sources=source)
    assert built_block(hits(curry, both), earlier=soup_and_curry()).said == ()
    whole = built_block((), earlier=soup_and_curry()).said
    assert [each.message_id for each in whole] == ["trip-1", "trip-2"]


def test_a_hit_joined_as_a_neighbour_stays_when_the_main_hit_is_a_recent_message():
    (hit,) = soup_and_curry()
    there = replace(hit.passage, conversation_id="talk", message_id="m1")
    answer = built_block(tail=said(("user", "And a curry.")), earlier=[replace(hit, passage=there)])
    assert [each.text for each in answer.said] == ["I made a soup of plums."]
