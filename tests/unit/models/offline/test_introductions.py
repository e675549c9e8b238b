"""Greetings and introductions do not keep the statements after them from being read."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from agents.models.offline.introductions import without_introduction
from agents.models.offline.provider import OfflineProvider
from sinks.classification.sentences import OnnxSentenceClassifier
from tests.builders.slices import knowing, slice_of


@pytest.fixture(scope="module")
def classifier() -> Iterator[OnnxSentenceClassifier]:
    with closing(OnnxSentenceClassifier()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sentence", "read"),
    [
        ("Hello, I'm vegan.", ["I'm vegan."]),
        ("Hi all, I'm vegan.", ["I'm vegan."]),
        ("Hey Bob, I'm vegan.", ["I'm vegan."]),
        ("hi i'm vegan", ["I'm vegan"]),
        ("Hello Kitty is my favourite brand.", ["Hello Kitty is my favourite brand."]),
        ("Hello Kitty I'm a fan of.", ["Hello Kitty I'm a fan of."]),
        ("Hi Tom, you are vegan.", ["Hi Tom, you are vegan."]),
        ("Salut Luc, tu es végétarien.", ["Salut Luc, tu es végétarien."]),
        ("Bonjour, je suis végétarien, dit-il.", ["Bonjour, je suis végétarien, dit-il."]),
        ("Hola, soy vegana, dijo ella.", ["Hola, soy vegana, dijo ella."]),
        ("My name is Alice and I'm vegan.", ["My name is Alice.", "I'm vegan."]),
        ("My name is Alice and Bob is my son.", ["My name is Alice and Bob is my son."]),
        ("Hallo zusammen, ich heiße Lena und wohne in Köln.", ["Ich heiße Lena.", "Ich wohne in Köln."]),
        ("Ich heiße Lena und meine Katze heißt Mia.", ["Ich heiße Lena und meine Katze heißt Mia."]),
        ("Ich heiße Lena und Tom ist mein Sohn.", ["Ich heiße Lena und Tom ist mein Sohn."]),
        ("Bonjour à tous, je suis végétarien.", ["Je suis végétarien."]),
        ("Hola, me llamo Ana y no como carne.", ["Me llamo Ana.", "No como carne."]),
        ("Hola a todos, soy vegetariana.", ["Soy vegetariana."]),
    ],
)
def test_a_greeting_is_left_out_and_an_introduction_is_a_sentence_of_its_own(sentence: str, read: list[str]) -> None:
    assert list(without_introduction(sentence)) == read


@pytest.mark.parametrize(
    ("message", "remembered"),
    [
        ("Hello, I'm allergic to nuts.", {"User is allergic to nuts."}),
        ("Hi everyone, I'm vegetarian.", {"User is vegetarian."}),
        ("Hello, my name is Alice and I'm allergic to nuts.", {"User's name is Alice.", "User is allergic to nuts."}),
        ("Hallo, ich heiße Lena und wohne in Köln.", {"Der Nutzer heißt Lena.", "Der Nutzer wohnt in Köln."}),
        ("Bonjour, je suis allergique aux noix.", {"L'utilisateur est allergique aux noix."}),
        ("Hola, soy alérgica a las nueces.", {"El usuario es alérgica a las nueces."}),
        ("Hello! My name is Alice and I'm allergic to nuts.", {"User's name is Alice.", "User is allergic to nuts."}),
    ],
)
async def test_an_allergy_is_remembered_although_the_message_begins_with_a_greeting(
    message: str, remembered: set[str], classifier: OnnxSentenceClassifier
) -> None:
    answer = await OfflineProvider(classifier=classifier).extract(slice_of(message), knowing())
    assert {each.text for each in answer.proposals} == remembered


@pytest.mark.parametrize(
    "message",
    [
        "The letter reads:\nHello, I'm allergic to nuts.",
        "Traduce al inglés:\nHola, me llamo Ana y vivo en Sevilla.",
        "Translate to Spanish:\n\nHello, my name is Alice and I'm allergic to nuts.",
        "Hi Tom, you are allergic to nuts.",
        "Hola Ana, eres alérgica a las nueces.",
    ],
)
async def test_a_greeting_in_a_quotation_or_to_somebody_else_makes_no_fact_of_the_user(
    message: str, classifier: OnnxSentenceClassifier
) -> None:
    answer = await OfflineProvider(classifier=classifier).extract(slice_of(message), knowing())
    assert answer.proposals == ()
