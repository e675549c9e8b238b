"""A greeting that names its speaker becomes a name in the profile; other greetings do not."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from msgspec import structs

from agents.models.offline.provider import OfflineProvider
from agents.models.port import SentenceClassifier
from agents.profile.classification import part_of
from sinks.classification.sentences import OnnxSentenceClassifier
from tests.builders.slices import knowing, known, said, slice_of
from tests.fakes.sentence_classifier import FakeSentenceClassifier


@pytest.fixture(scope="module")
def classifier() -> Iterator[OnnxSentenceClassifier]:
    with closing(OnnxSentenceClassifier()) as opened:
        yield opened


async def names(classifier: SentenceClassifier | None, text: str, name: str | None = None) -> list[str]:
    """The memories of a message that are names in the profile."""
    request = slice_of(structs.replace(said(text), name=name))
    answer = await OfflineProvider(classifier=classifier).extract(request, knowing())
    return [each.text for each in answer.proposals if part_of(known(each.text)) == "name"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hi, Sara here", "User's name is Sara."),
        ("Hi! Sara here. Can you help me with a mail?", "User's name is Sara."),
        ("Hello, Mary-Ann here and I live in Leeds", "User's name is Mary-Ann."),
        ("Hey, it's Tom here, need help with my CV", "User's name is Tom."),
        ("Hi, it is Sebastian speaking", "User's name is Sebastian."),
        ("Hi, it's Ana from accounting", "User's name is Ana."),
        ("Hey, it's Ana here from HR", "User's name is Ana."),
        ("Hey, this is Tom again", "User's name is Tom."),
        ("Hi, this is Ana from accounting", "User's name is Ana."),
        ("Hello, this is Ana Costa from HR.", "User's name is Ana Costa."),
        ("Ich bin's, Jonas", "Der Nutzer heißt Jonas."),
        ("Hallo, hier spricht Jonas. Ich wohne in Kiel.", "Der Nutzer heißt Jonas."),
        ("Hallo, mein Name ist Jonas", "Der Nutzer heißt Jonas."),
        ("ici Claire", "L'utilisateur s'appelle Claire."),
        ("Bonjour, ici Claire, je suis végane", "L'utilisateur s'appelle Claire."),
        ("Hola, aquí Marta", "El usuario se llama Marta."),
        ("Hola, te habla Marta y vivo en Soria", "El usuario se llama Marta."),
    ],
)
async def test_a_greeting_with_the_name_of_the_speaker_is_kept_as_a_name(
    classifier: OnnxSentenceClassifier, text: str, name: str
) -> None:
    assert await names(classifier, text) == [name]
    assert await names(None, text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        # limits
        "Hi, I'm Vegan, what can I cook?",
        "Hi, Vegan here, what can I cook?",
        "Hi, it's Celiac again",
        "Hi, Pregnant here",
        "Hi, Deaf here",
        "Hello, this is Diabetic",
        "Hallo, ich bin Veganerin",
        "Ich bin's, Schwanger",
        "je suis Végane",
        "Bonjour, ici Végane",
        "Hola, soy Celíaca",
        "Hola, aquí Vegana",
        # nationalities and religions
        "Hi, I'm Chilean",
        "Hi, Moroccan here",
        "Hi, Brazilian here",
        "Hi, German here",
        "Hi, Muslim here",
        "Hallo, ich bin Deutsche",
        "Hallo, hier schreibt Österreicherin",
        "je suis Canadienne",
        "ici Marocaine",
        "soy Mexicana",
        "Hola, aquí Chilena",
        # roles
        "Nurse here, long shift",
        "Hi, Mom here",
        "Hallo, ich bin Lehrerin",
        "Ich bin's, Schatz",
        "Hallo, hier spricht Mama",
        "ici Maman",
        "soy enfermera",
        "Hola, te habla Mamá",
        "Hola, te escribe Tu Madre",
        # places
        "this is London.",
        "Hi, London here",
        "Hello, Berlin Office here",
        "Hallo, hier spricht Wien",
        "ici Paris",
        "ici il pleut",
        "Hola, aquí Madrid",
        # groups
        "Hi, Team here",
        "Hello, Everyone here?",
        "Hello, Everyone here, I have a question",
        "Hi, Marketing here",
        "Hi, Tom and Ana here",
        "Hi, this is Tom and Ana",
        "Hello, this is IT",
        "Hallo, hier schreibt Familie",
        "Hola, aquí Todos",
        # times, states and things
        "Hello, it's Me again",
        "Hello, it's Monday again",
        "Hey, it's Christmas!",
        "Hi, it's Urgent",
        "Ich bin es Leid",
        "Aquí Estoy",
        "Hi, I'm Okay",
        "Winter here, freezing",
        "It's Excel again, it crashes",
        "Hi, it's Excel again, I can't open it",
        "Hey, it's Netflix, it keeps buffering",
        "Hi, it is Covid again, I'm in bed",
        "Hi, it's Passover, I don't eat bread",
        "Hi, it's Bitcoin again, I lost 100",
        "Hi, it's Migraine from the weather",
        "This is Rex from the shelter",
        "This is Bread from yesterday",
        "Hallo, hier ist Winter",
        "Bonjour, c'est Noël",
        "Hola, soy Aries",
        # others' names
        "Hi Tom, can you help me?",
        "Hi Tom here is the file",
        "Hi, Sara's here",
        "Hi, it's Dr. Smith",
    ],
)
async def test_a_greeting_without_a_name_gives_no_name(classifier: OnnxSentenceClassifier, text: str) -> None:
    assert await names(classifier, text) == []
    assert await names(None, text) == []


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("Hi, I'm Vegan, what can I cook?", "User is Vegan."),
        ("Hi, Vegan here, what can I cook?", "User is Vegan."),
        ("Hi, Deaf here", "User is Deaf."),
        ("je suis Végane", "L'utilisateur est Végane."),
    ],
)
async def test_a_limit_in_capitals_in_a_greeting_stays_a_limit(
    classifier: OnnxSentenceClassifier, text: str, memory: str
) -> None:
    answer = await OfflineProvider(classifier=classifier).extract(slice_of(text), knowing())
    assert [each.text for each in answer.proposals] == [memory]
    assert {part_of(structs.replace(known(each.text), tags=each.tags)) for each in answer.proposals} == {"constraint"}


async def test_the_name_of_the_event_outweighs_the_one_of_the_greeting(classifier: OnnxSentenceClassifier) -> None:
    assert await names(classifier, "Hi, Sara here", name="Sara Meier") == []


@pytest.mark.parametrize("text", ["Hallo, ich bin's, Jonas. Ich arbeite als Tischler.", "Ich bin's, Jonas."])
async def test_a_greeting_is_no_memory_if_the_event_has_a_name(classifier: OnnxSentenceClassifier, text: str) -> None:
    request = slice_of(structs.replace(said(text), name="Jonas"))
    answer = await OfflineProvider(classifier=classifier).extract(request, knowing())
    assert [each.text for each in answer.proposals] == ["Der Nutzer arbeitet als Tischler."][: text.count("Tischler")]


async def test_the_statements_after_the_name_are_kept(classifier: OnnxSentenceClassifier) -> None:
    request = slice_of("Hi, Sara here, I'm vegan and I live in Leeds.")
    answer = await OfflineProvider(classifier=classifier).extract(request, knowing())
    assert [each.text for each in answer.proposals] == [
        "User's name is Sara.",
        "User is vegan.",
        "User lives in Leeds.",
    ]


async def test_what_follows_the_name_is_not_said_of_the_speaker(classifier: OnnxSentenceClassifier) -> None:
    request = slice_of("Hi, Sara here, a friend of mine is vegan.")
    answer = await OfflineProvider(classifier=classifier).extract(request, knowing())
    assert [each.text for each in answer.proposals] == [
        "User's name is Sara.",
        'User said: "A friend of mine is vegan".',
    ]


async def test_the_name_is_read_by_rules_alone_and_the_rest_is_classified() -> None:
    fake = FakeSentenceClassifier()
    assert await names(fake, "Hi, Sara here, I live in Leeds.") == ["User's name is Sara."]
    request = slice_of("Write a story about a fox.", "Hi, Sara here, I live in Leeds.")
    assert (await OfflineProvider(classifier=fake).extract(request, knowing())).proposals == ()
