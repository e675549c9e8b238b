"""Detection of casual messages in several languages, and never in an unknown script."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CASUAL


def casual(text: str, role: str = "user") -> bool:
    return bool(detect(role, text).traits & CASUAL)


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Thanks a lot!",
        "haha nice",
        "ok cool",
        "Good night!",
        "\N{THUMBS UP SIGN}",
        "...",
        "Thank you for your help. I will try it.",
        "Danke dir!",
        "Guten Abend",
        "Schönes Wochenende!",
        "Merci beaucoup",
        "Bonne nuit !",
        "¡Hola! ¿Qué tal?",
        "Muchas gracias",
        "Grazie!",
        "Hello Mona, it is so nice to chat with you again. Is there anything you'd like to share with me about today?",
    ],
)
def test_a_social_message_is_casual(text):
    assert casual(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "no",
        "42",
        "ok, go ahead with the second plan",
        "Thanks, but it still crashes.",
        "Hello, how do I install Python?",
        "Thank you for your advice. How do you see the other option?",
        "Good morning. Never deploy on Fridays.",
        "Danke, aber das ist falsch.",
        "Merci, mais c'est faux.",
        "\u6211\u7684\u540d\u5b57\u662f\u738b\u4f1f ok thanks",
        "\u043f\u0440\u0438\u0432\u0435\u0442 ok",
    ],
)
def test_a_message_with_other_content_is_not_casual(text):
    assert not casual(text)


def test_a_long_message_is_not_casual_however_it_begins():
    assert not casual("Hello! " + "We moved to a small town by the sea where the trains run every hour. " * 2)


def test_assistant_messages_can_be_casual_and_tool_messages_cannot():
    assert casual("You're welcome!", "assistant")
    assert not casual("ok", "tool")
