"""A forget wish selects the memories that it means, and no others."""

from datetime import timedelta

import pytest

from agents.curation.rules.commands.topics import names_topic
from agents.curation.rules.commands.wishes import memories_meant
from schemas.extraction.candidates import Source
from tests.builders.memories import NOON, a_memory
from tests.builders.wishes import STATEMENTS, a_wish


def chosen(known: tuple[str, ...] = STATEMENTS, **named: str) -> set[str]:
    wish = a_wish(**named)
    return {
        each.text
        for each in memories_meant(wish, [a_memory(text, memory_id=text) for text in known], (), personal=True)
    }


@pytest.mark.parametrize(
    ("stated", "text"),
    [
        ("User lives in Berlin.", "User lives in Berlin."),
        ("Der Nutzer wohnt in Berlin.", "User lives in Berlin."),
        ("User moved to Berlin.", "User lives in Berlin."),
        ("User works at Siemens.", "User works at Siemens as a nurse."),
        ("User is allergic to peanuts", "User is allergic to peanuts."),
    ],
)
def test_a_forget_wish_selects_memories_that_state_the_same(stated: str, text: str) -> None:
    assert chosen(statement=stated) == {text}


@pytest.mark.parametrize(
    "stated", ["User smokes.", "User lives in Lyon.", "User's brother lives in Berlin.", "User has a cat."]
)
def test_a_forget_wish_spares_memories_that_state_the_opposite_or_something_else(stated: str) -> None:
    assert chosen(statement=stated) == set()


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("my job", "User works at Siemens as a nurse."),
        ("my old job", "User works at Siemens as a nurse."),
        ("meinen Job", "User works at Siemens as a nurse."),
        ("mon travail", "User works at Siemens as a nurse."),
        ("mi trabajo", "User works at Siemens as a nurse."),
        ("where I live", "User lives in Berlin."),
        ("wo ich wohne", "User lives in Berlin."),
        ("my wife", "User's wife works at Bosch."),
        ("my sister", "User's sister lives in Berlin."),
        ("Rex", "User has a dog named Rex."),
        ("my dog", "User has a dog named Rex."),
        ("my birthday", "User's birthday is on 3 May."),
        ("peanuts", "User is allergic to peanuts."),
    ],
)
def test_a_forget_wish_selects_memories_about_the_named_topic(topic: str, text: str) -> None:
    assert chosen(topic=topic) == {text}


@pytest.mark.parametrize("topic", ["my wife's job at Siemens", "my brother", "my car", "the weather", "my"])
def test_a_forget_wish_spares_memories_unrelated_to_the_named_topic(topic: str) -> None:
    assert chosen(topic=topic) == set()


@pytest.mark.parametrize(
    ("topic", "text", "is_meant"),
    [
        ("my engagement", "User got engaged in May.", True),
        ("my retirement", "User retired in 2024.", True),
        ("son licenciement", "L'utilisateur a été licencié en mars.", True),
        ("my department", "User departs on Friday.", False),
        ("my apartment", "User is apart from Tom.", False),
        ("mon frère", "L'utilisateur a un frère en prison.", True),
        ("mi hermano", "El usuario tiene un hermano en Quito.", True),
        ("mon frère", "L'utilisateur a une sœur en prison.", False),
        ("meine Gesundheit", "Der Nutzer hat Rheuma.", True),
        ("mi sueldo", "El usuario gana 2.300 euros al mes.", True),
        ("my bakery job", "User works in a bakery.", True),
        ("mi trabajo en la panadería", "El usuario trabaja en una panadería.", True),
        ("my job because of the bakery", "User works in a bakery.", True),
        ("my job and the bakery", "User works in a bakery.", True),
        ("mon travail des boulangeries", "L'utilisateur travaille dans les boulangeries.", True),
        ("my bakery job", "User works as a nurse.", False),
        ("my bakery job", "User's wife works in a bakery.", False),
        ("my home office", "User's office is in Leeds.", False),
    ],
)
def test_a_topic_selects_memories_that_say_it_in_a_related_word_or_another_language(
    topic: str, text: str, is_meant: bool
) -> None:
    assert chosen((text,), topic=topic) == ({text} if is_meant else set())


PRIVATE = (
    "User has diabetes.",
    "User takes the afternoon off for chemo.",
    "User's daughter has asthma.",
    "User works at Siemens as a nurse.",
    "User's wife works at Bosch.",
    "User owes the bank 3,000 euros.",
    "User's brother Tom is a pilot.",
    "User plays chess.",
)


@pytest.mark.parametrize(
    ("topic", "texts"),
    [
        ("my health", {"User has diabetes.", "User takes the afternoon off for chemo."}),
        ("meine Krankheit", {"User has diabetes.", "User takes the afternoon off for chemo."}),
        ("mon travail", {"User works at Siemens as a nurse."}),
        (
            "mi familia",
            {"User's daughter has asthma.", "User's wife works at Bosch.", "User's brother Tom is a pilot."},
        ),
        ("my finances", {"User owes the bank 3,000 euros."}),
        ("Tom", {"User's brother Tom is a pilot."}),
    ],
)
def test_a_broad_topic_selects_memories_of_that_theme_in_any_wording(topic: str, texts: set[str]) -> None:
    assert chosen(PRIVATE, topic=topic) == texts


def test_a_forget_wish_selects_only_memories_of_the_referenced_sentence_of_a_message() -> None:
    said = Source(conversation_id="c", message_id="m")
    known = [
        a_memory(text, memory_id=text, sources=(said,)) for text in ("User lives in Berlin.", "User lives in Lyon.")
    ]
    wish = a_wish(means=said, said="I live in Berlin.")

    assert [each.text for each in memories_meant(wish, known, (), personal=True)] == ["User lives in Berlin."]


def test_a_forget_wish_matches_the_referenced_sentence_to_memories_in_another_language() -> None:
    said = Source(conversation_id="c", message_id="m")
    texts = ("User has lived in Berlin with two dogs since 2019.", "User is a trained nurse, and has worked in Lyon.")
    known = [a_memory(text, memory_id=text, sources=(said,)) for text in texts]
    wish = a_wish(means=said, said="Ich wohne seit 2019 in Berlin, und zwar mit zwei Hunden.")

    assert [each.text for each in memories_meant(wish, known, (), personal=True)] == [texts[0]]


def test_a_forget_wish_spares_memories_stated_after_the_wish() -> None:
    def at(minute: int) -> Source:
        return Source(conversation_id="c", message_id=f"m{minute}", timestamp=NOON + timedelta(minutes=minute))

    earlier, later = (a_memory("User lives in Berlin.", memory_id=str(each), sources=(at(each),)) for each in (1, 3))
    wish = a_wish(message=at(2), statement="User lives in Berlin.")

    assert memories_meant(wish, [earlier, later], (), personal=True) == [earlier]


@pytest.mark.parametrize(
    ("content", "topic"),
    [
        ("my gf Yasmin says she wants it firmer", "Yasmin"),
        ("yasmin called", "Yasmin"),
        ("Yasmin's birthday is in May", "my girlfriend Yasmin"),
        ("My sister Clara gets married in Bologna", "my sister Clara"),
        ("Ich war mit Paul im Kino", "Paul"),
    ],
)
def test_a_message_that_names_the_topic_of_a_wish_is_meant(content: str, topic: str) -> None:
    assert names_topic(content, topic)


@pytest.mark.parametrize(
    ("content", "topic"),
    [
        ("I split up last week", "Yasmin"),
        ("My boss Clara is strict", "my sister Clara"),
        ("My job is boring", "my job"),
        ("Der Umzug war teuer", "meinen Umzug"),
        ("My sister Clara loves tea", "my sister Clara's wedding"),
        ("My family is large", "my family"),
    ],
)
def test_a_message_with_a_common_word_or_about_somebody_else_is_not_meant(content: str, topic: str) -> None:
    assert not names_topic(content, topic)
