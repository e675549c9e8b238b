"""Detection of completed tasks, apart from questions and incomplete ones."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import TASK_COMPLETE


def completes(text: str, role: str = "assistant") -> bool:
    return bool(detect(role, text).traits & TASK_COMPLETE)


@pytest.mark.parametrize(
    "text",
    [
        "Task complete.",
        "Done.",
        "All done!",
        "I've successfully renamed the module.",
        "The migration is finished.",
        "That fixed it.",
        "It works now, thank you!",
        "Erledigt.",
        "Alles erledigt!",
        "Die Aufgabe ist abgeschlossen.",
        "C'est fait.",
        "C'est réglé.",
        "Listo.",
        "Ya está.",
    ],
)
def test_a_statement_of_completion_marks_the_task_complete(text):
    assert completes(text) and completes(text, "user")


@pytest.mark.parametrize(
    "text",
    [
        "It is not complete.",
        "Are you done?",
        "When it is done, tell me.",
        "What's done is done, they say, and we go on.",
        "That does not work.",
        "Ist das fertig, wenn ich komme?",
        "Noch nicht fertig.",
        "C'est fait à la main.",
        "¿Estás listo para salir?",
        "Almost done.",
    ],
)
def test_questions_conditions_and_negations_do_not_mark_a_task_complete(text):
    assert not completes(text)


def test_a_tool_message_does_not_mark_a_task_complete():
    assert not completes("Done.", "tool")
