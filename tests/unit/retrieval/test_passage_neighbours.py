"""Short passages are shown with the message that explains them; adjacent hits are merged."""

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.passage_neighbours import (
    count_words,
    has_at_most,
    merge_neighbours,
    neighbour_places,
    place_of,
    without_shown,
)
from schemas.passages.passages import Passage, ReadPassage
from schemas.retrieval.searches import SaidHit

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
OWNERS = ("kitchen/ada",)
LONG = "We went to the market early and bought plums, a melon and far too many of those green figs."
FORTY_ONE = "word " * 41


class Talk:
    """Builds messages from `speaker: text`, a minute apart."""

    def __init__(self, *lines: str, gap: timedelta = timedelta(minutes=1), owners: tuple[str, ...] = OWNERS) -> None:
        self.owners = owners
        self.passages = [
            Passage(
                passage_id=f"p{number}",
                namespace="kitchen/ada",
                conversation_id="talk",
                message_id=f"m{number}",
                role="user",
                speaker=line.partition(": ")[0],
                said_at=NOON + number * gap,
                text=line.partition(": ")[2],
                ordinal=number,
            )
            for number, line in enumerate(lines)
        ]

    def found(self, *numbers: int) -> list[tuple[str, ...]]:
        """The messages of each hit, if these are found, the best first."""
        return [tuple(each.message_id for each in hit.exchange) for hit in self.hits(*numbers)]

    def hits(self, *numbers: int) -> list[SaidHit]:
        hits = [
            SaidHit(score=-rank, passage=self.passages[number], owners=OWNERS) for rank, number in enumerate(numbers)
        ]
        read = {place_of(each): ReadPassage(passage=each, owners=self.owners) for each in self.passages}
        beside = {place: read[place] for place in neighbour_places(hits) if place in read}
        return merge_neighbours(hits, beside)


def test_a_short_reply_includes_the_question_before_it():
    assert Talk(
        "bob: Which dish did you cook in the end?", "ada: It was the soup that my aunt always makes for us."
    ).found(1) == [("m0", "m1")]


def test_a_short_message_includes_the_message_before_it():
    assert Talk("ada: I decided to visit a garden", "ada: After my run today").found(1) == [("m0", "m1")]


def test_a_message_that_is_only_a_question_includes_the_answer():
    talk = Talk(
        "ada: Hello there.",
        "bob: Which dish did you cook for all of us in the end, and for how many?",
        "ada: The soup.",
    )
    assert talk.found(1) == [("m1", "m2")]


def test_a_long_message_includes_no_neighbour():
    assert Talk("bob: Where have you been?", f"ada: {LONG}", "bob: Nice.").found(1) == [("m1",)]


def test_a_statement_of_medium_length_does_not_include_the_message_before_it():
    assert Talk("bob: The weather was fine.", "ada: I bought plums and a melon at the old market.").found(1) == [
        ("m1",)
    ]


def test_messages_hours_apart_are_not_neighbours():
    talk = Talk("bob: Which dish did you cook?", "ada: The soup.", gap=timedelta(hours=7))
    assert talk.found(1) == [("m1",)]


def test_a_message_with_other_owners_is_not_included_as_a_neighbour():
    assert Talk("bob: Which dish did you cook?", "ada: The soup.", owners=("kitchen/bob",)).found(1) == [("m1",)]


def test_neighbouring_hits_are_merged_at_the_position_of_the_best():
    talk = Talk("bob: Which dish did you cook?", "ada: The soup.", f"bob: {LONG}", f"ada: {LONG}")
    assert talk.found(2, 1, 3, 0) == [("m2",), ("m0", "m1"), ("m3",)]


def test_a_hit_keeps_its_position_and_score_when_a_later_hit_is_merged_into_it():
    talk = Talk(f"ada: {LONG}", "ada: And honey.")
    hits = [SaidHit(score=0.9, passage=talk.passages[0]), SaidHit(score=0.3, passage=talk.passages[1])]
    (hit,) = merge_neighbours(hits, {place_of(talk.passages[0]): ReadPassage(passage=talk.passages[0], owners=())})
    assert (hit.score, hit.passage, hit.neighbours) == (0.9, talk.passages[0], (talk.passages[1],))


def test_a_long_message_before_a_reply_is_reduced_to_its_end():
    talk = Talk(f"ai: {FORTY_ONE.strip()}. Do you have any allergies?", "ada: Peanuts.")
    hit = SaidHit(score=1, passage=talk.passages[1], owners=OWNERS)
    beside = {place_of(each): ReadPassage(passage=each, owners=OWNERS) for each in talk.passages}
    (neighbour,) = merge_neighbours([hit], beside)[0].neighbours
    assert neighbour.text == "… Do you have any allergies?"
    without_end = Talk(f"ai: {'word' * 200}", "ada: Peanuts.")
    beside = {place_of(each): ReadPassage(passage=each, owners=OWNERS) for each in without_end.passages}
    (neighbour,) = merge_neighbours([hit], beside)[0].neighbours
    assert len(neighbour.text) <= 800


def test_a_long_answer_is_not_included_with_its_question():
    assert Talk("ada: Hello.", "bob: Which dish did you cook?", f"ada: {FORTY_ONE}").found(1) == [("m0", "m1")]


def test_words_are_counted_in_scripts_without_spaces():
    question = "bob: 你昨天晚上在家里做了什么菜给大家吃?"
    assert Talk(question, "ada: 我做了汤。").found(1) == [("m0", "m1")]
    assert Talk(question, f"ada: {'我昨天去了市场买了很多李子和一个甜瓜' * 3}。").found(1) == [("m1",)]


def test_a_question_between_two_hits_duplicates_neither():
    talk = Talk(f"ada: {LONG}", "bob: Which dish did you cook?", f"ada: {LONG}")
    assert talk.found(0, 2, 1) == [("m0", "m1"), ("m2",)]


def test_every_hit_is_returned_and_no_message_appears_twice():
    random = Random(7)
    texts = ["Yes.", "And honey.", "Which dish did you cook?", "Why?", LONG, f"{LONG} Do you?", FORTY_ONE.strip()]
    for _ in range(400):
        talk = Talk(*(f"{random.choice(['ada', 'bob'])}: {random.choice(texts)}" for _ in range(random.randint(1, 9))))
        numbers = random.sample(range(len(talk.passages)), random.randint(1, len(talk.passages)))
        found = [message for hit in talk.found(*numbers) for message in hit]
        assert len(found) == len(set(found)), [each.text for each in talk.passages]
        assert set(found) >= {f"m{number}" for number in numbers}


def test_a_merged_hit_remains_when_the_other_hit_is_removed():
    talk = Talk("ada: I made a soup of plums.", "ada: And a curry.", "ada: It was good.")
    (hit,) = talk.hits(1, 0)
    (left,) = without_shown(hit, lambda passage: passage.message_id == "m1")
    assert (left.passage.message_id, left.score, left.neighbours) == ("m0", -1, ())
    (alone,) = without_shown(hit, lambda passage: passage.message_id == "m0")
    assert (alone.passage.message_id, alone.neighbours, alone.joined) == ("m1", (), ())


@given(st.text(alphabet="ab' 昨天.?", max_size=60), st.integers(0, 12))
def test_a_text_has_at_most_as_many_words_as_are_counted_in_it(text: str, words: int) -> None:
    assert has_at_most(text, words) == (count_words(text) <= words)
