"""Detection of a new task, and of whether it ends the previous one."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import TASK_BEGINS, TASK_SWITCHES


def traits(text: str, role: str = "user") -> int:
    return detect(role, text).traits & (TASK_BEGINS | TASK_SWITCHES)


@pytest.mark.parametrize(
    "text",
    [
        "Now let's work on the tests.",
        "Ok, now I want to plan the trip.",
        "Jetzt lass uns die Tests schreiben.",
        "Maintenant, parlons du budget.",
        "Ahora vamos a ver el hotel.",
    ],
)
def test_a_phrase_that_announces_the_next_step_begins_a_task(text):
    assert traits(text) == TASK_BEGINS


@pytest.mark.parametrize(
    "text",
    [
        "Next topic: the slides.",
        "Let's move on to the budget.",
        "On a different note, how do I cook rice?",
        "New task: rename the files.",
        "Nächstes Thema: der Umzug.",
        "Themenwechsel: was kostet das?",
        "Passons au budget.",
        "Changeons de sujet.",
        "Otro tema: el viaje.",
        "Cambiando de tema, ¿qué hora es?",
    ],
)
def test_a_change_of_topic_begins_a_task_and_ends_the_previous_one(text):
    assert traits(text) == TASK_BEGINS | TASK_SWITCHES


@pytest.mark.parametrize(
    "text",
    [
        "What do I do now?",
        "I moved on from that job years ago.",
        "Let's begin with the rounding.",
        "We have a new project at work.",
        "It's a different question of taste.",
        "Und jetzt?",
        "Il fait beau maintenant.",
        "Vivo ahora en Madrid.",
    ],
)
def test_an_ordinary_message_begins_no_task(text):
    assert traits(text) == 0


def test_only_users_begin_tasks():
    assert traits("Next topic: the slides.", "assistant") == 0
