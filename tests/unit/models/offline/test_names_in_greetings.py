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
        ("Hey, it's Tom again, need help with my CV", "User's name is Tom."),
        ("Good morning, I'm Mary-Ann and I live in Leeds", "User's name is Mary-Ann."),
        ("Hi, I'm Mary-Jane McDonald, I live in Leeds", "User's name is Mary-Jane McDonald."),
        ("Hi, I'm Jean-Luc O'Hara - can you help me?", "User's name is Jean-Luc O'Hara."),
        ("This is Ana from accounting", "User's name is Ana."),
        ("Hello, this is Ana Costa from HR.", "User's name is Ana Costa."),
        ("Ich bin's, Jonas", "Der Nutzer heißt Jonas."),
        ("Hallo, hier spricht Jonas. Ich wohne in Kiel.", "Der Nutzer heißt Jonas."),
        ("Hallo, mein Name ist Jonas", "Der Nutzer heißt Jonas."),
        ("ici Claire", "L'utilisateur s'appelle Claire."),
        ("Bonjour, moi c'est Claire, je suis végane", "L'utilisateur s'appelle Claire."),
        ("soy Marta", "El usuario se llama Marta."),
        ("Hola, soy Marta y vivo en Soria", "El usuario se llama Marta."),
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
        "this is great",
        "This is Rex from the shelter",
        "This is London.",
        "it's Monday",
        "Hello, it's Monday again",
        "Hey, it's Christmas!",
        "It's Excel again, it crashes",
        "Winter here, freezing",
        "Nurse here, long shift",
        "Hi, I'm German",
        "Hi, I'm Swedish and I live in Leeds",
        "Hi, I'm Brazilian",
        "Hi, I'm Italian. I cook a lot.",
        "Hello, I'm Vegan",
        "Hi, I'm Left-handed",
        "Hi, I'm Type-1 diabetic",
        "Hi, I'm Okay",
        "Hi Tom, can you help me?",
        "Hi Tom here is the file",
        "Hello, this is IT",
        "Hallo, ich bin Lehrerin",
        "Hallo, hier ist Winter",
        "Bonjour, je suis Français",
        "Bonjour, c'est Noël",
        "ici il pleut",
        "Hola, soy Aries",
        "soy enfermera",
    ],
)
async def test_a_greeting_without_a_name_gives_no_name(classifier: OnnxSentenceClassifier, text: str) -> None:
    assert await names(classifier, text) == []


async def test_the_name_of_the_event_outweighs_the_one_of_the_greeting(classifier: OnnxSentenceClassifier) -> None:
    assert await names(classifier, "Hi, Sara here", name="Sara Meier") == []


@pytest.mark.parametrize(
    ("text", "memories"),
    [
        ("Hi, Sara here, I'm vegan and I live in Leeds.", ["User is vegan.", "User lives in Leeds."]),
        ("Hello, I'm Sara, 71, from Leeds.", ["User is 71, from Leeds."]),
        ("Hello, I'm Sara, a nurse from Leeds.", ["User is a nurse from Leeds."]),
    ],
)
async def test_the_statements_after_the_name_are_kept(
    classifier: OnnxSentenceClassifier, text: str, memories: list[str]
) -> None:
    answer = await OfflineProvider(classifier=classifier).extract(slice_of(text), knowing())
    assert [each.text for each in answer.proposals] == ["User's name is Sara.", *memories]


async def test_the_name_is_read_by_rules_alone_and_the_rest_is_classified() -> None:
    fake = FakeSentenceClassifier()
    assert await names(fake, "Hi, Sara here, I live in Leeds.") == ["User's name is Sara."]
    request = slice_of("Write a story about a fox.", "Hi, Sara here, I live in Leeds.")
    assert (await OfflineProvider(classifier=fake).extract(request, knowing())).proposals == ()
