"""Detection of corrections, apart from agreement and talk about right and wrong."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CORRECTION


def corrects(text: str, role: str = "user") -> bool:
    return bool(detect(role, text).traits & CORRECTION)


@pytest.mark.parametrize(
    "text",
    [
        "That's wrong.",
        "No, that's not it.",
        "No, I meant the other one.",
        "Actually, it's on the 5th.",
        "I said Thursday, not Tuesday.",
        "That is not what I asked.",
        "You misread the table.",
        "You used the wrong file.",
        "My mistake, it is 40.",
        "Just to clarify: only the first page counts.",
        "Correction: 12, not 21.",
        "Das ist falsch.",
        "Nein, ich meinte den anderen.",
        "Das stimmt so nicht.",
        "Ich habe mich vertippt.",
        "C'est faux.",
        "Je voulais dire mardi.",
        "Ce n'est pas ce que j'ai demandé.",
        "Me equivoqué de fecha.",
        "Quise decir el lunes.",
        "Eso no es lo que pedí.",
        "Not quite: the second term is missing.",
        "Nein, stimmt nicht, es sind acht.",
        "En fait non, plutôt samedi.",
        "Non, ce n'est pas le bon fichier.",
        "En realidad no, es el jueves.",
        "No, eso era la semana pasada.",
    ],
)
def test_a_correction_is_found(text):
    assert corrects(text)


@pytest.mark.parametrize(
    "text",
    [
        "That's right.",
        "No problem.",
        "No, thanks.",
        "No, it's fine as it is.",
        "Not quite sure yet.",
        "No es nada.",
        "Is it wrong to lie?",
        "Actually I like it.",
        "What did you mean?",
        "Nein danke.",
        "Das ist richtig.",
        "Il faut faire attention.",
        "No, gracias.",
        "No tengo coche.",
        "Está bien.",
    ],
)
def test_text_that_only_resembles_a_correction_is_not_detected(text):
    assert not corrects(text)


def test_an_assistant_that_corrects_itself_is_detected():
    assert corrects("You're right, I made an arithmetic error there.", "assistant")
    assert corrects("I apologize for the confusion. It is 12.", "assistant")
    assert not corrects("You're right, the sea is beautiful.", "assistant")
