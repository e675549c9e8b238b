"""Detection of lasting directives, apart from similar sentences."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.directive import MAX_WORDS
from streams.windows.detectors.traits import DIRECTIVE, LASTING


def directs(text: str, role: str = "user") -> bool:
    return bool(detect(role, text).traits & DIRECTIVE)


@pytest.mark.parametrize(
    "text",
    [
        "Always use metric units.",
        "Please never mention the price to the customer.",
        "The export must not contain any names.",
        "don't touch the config",
        "Use the old style, but don\N{RIGHT SINGLE QUOTATION MARK}t change the public API.",
        "Do not merge this before Friday.",
        "Answer in Dutch from now on, please.",
        "Make sure that the tests still run on Windows.",
        "Remember that my son has coeliac disease.",
        "Keep it short.",
        "no more than five slides",
        "I'm allergic to penicillin.",
        "Bitte verwende nur die neuen Vorlagen.",
        "Auf keinen Fall darf der Kunde das sehen.",
        "Achten Sie bitte darauf, dass nichts fehlt.",
        "Stell sicher, dass die Anlage dabei ist.",
        "N'oublie pas de citer les sources.",
        "Il ne faut jamais donner mon adresse.",
        "Assurez-vous que tout est en français.",
        "Désormais, tutoie-moi.",
        "Nunca borres los archivos originales.",
        "El texto debe tener menos de 300 palabras.",
        "A partir de ahora escribe en inglés.",
        "Use blue and grey, never green.",
        "The password stays out of the file, always.",
        "No raisins in it please.",
    ],
)
def test_a_directive_or_constraint_is_found(text):
    assert directs(text)


@pytest.mark.parametrize(
    "text",
    [
        "I always have coffee in the morning.",
        "I have never been to Rome.",
        "Never mind.",
        "It is now or never.",
        "I said that never again.",
        "Thank you, as always.",
        "You know me, I always do, always.",
        "It is the same as always.",
        "There was no milk, please forgive me.",
        "You must be very tired after that trip.",
        "I must say I liked it.",
        "I don't know.",
        "I like the sea but don't like the sand.",
        "Don't worry about it.",
        "They do not have a dog.",
        "Do you remember the film?",
        "I keep a diary.",
        "I shouldn't eat so much chocolate.",
        "What happens at most companies is different.",
        "Ich trinke immer Tee.",
        "Ich muss morgen früh raus.",
        "Das war noch nie so.",
        "On ne sait jamais.",
        "Je ne fume pas.",
        "Siempre llueve en abril.",
        "No tengo tiempo hoy.",
        "Si deve vivere.",
        "Het mag best.",
        "",
    ],
)
def test_text_that_only_resembles_a_directive_is_not_detected(text):
    assert not directs(text)


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_user_messages_contain_directives(role):
    assert not directs("Always use metric units.", role)


def lasts(text: str) -> bool:
    return bool(detect("user", text).traits & LASTING)


PROMPT = "Read the records of the last session and write down what changed, one line for each of them. " * 5


def test_a_directive_in_a_short_message_outlives_its_task():
    assert lasts("Always use metric units.")
    assert lasts("Bitte verwende nur die neuen Vorlagen.")
    assert not lasts("How far is it to the station?")


def test_a_directive_in_a_long_text_applies_to_its_task_only():
    assert len(PROMPT.split()) > MAX_WORDS
    for directive in ("All operations must be done in one call.", "Il ne faut jamais donner mon adresse."):
        assert directs(f"{PROMPT} {directive}") and not lasts(f"{PROMPT} {directive}")


@pytest.mark.parametrize(
    "standing",
    [
        "Answer in Dutch from now on.",
        "Ab jetzt nur noch Stichpunkte.",
        "Désormais, tutoie-moi.",
        "A partir de ahora escribe en inglés.",
    ],
)
def test_a_directive_in_a_long_text_lasts_if_it_says_from_now_on(standing):
    assert lasts(f"{PROMPT} {standing}")
