"""Sentences of a message with the text around them, and a classifier's scores of what they state."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

MOST_BEFORE: Final = 200  # characters
MOST_AFTER: Final = 100
REPLIED_CHARS: Final = 100  # the end of the previous message


class Sentence(NamedTuple):
    """A sentence, and the text around it: of the same message, and the end of the previous one."""

    around: str
    text: str


class SentenceScores(NamedTuple):
    """Probabilities, which add up to 1. `statement`: something lasting about the speaker or their life; `limit`: a constraint
    that every answer must respect (allergies, diets, conditions, budgets); `wish`: a lasting instruction to the assistant;
    `unreal`: fiction, hypothesis, quotation, text to be edited; `other`: questions, current requests, chatter, passing states."""

    other: float
    statement: float
    limit: float
    wish: float
    unreal: float


def around(before: str, after: str) -> str:
    """The end of the text before a sentence, and the beginning of the text after it, in whole words."""
    end = before[-MOST_BEFORE:].partition(" ")[2] if len(before) > MOST_BEFORE else before
    beginning = after[:MOST_AFTER].rpartition(" ")[0] if len(after) > MOST_AFTER else after
    return f"{end} … {beginning}".strip() if beginning else end


def in_context(previous: str, sentences: Sequence[str]) -> Iterator[Sentence]:
    """The sentences of a message, each with the text around it, which may include the end of the `previous` message."""
    whole = " ".join((f"{previous[-REPLIED_CHARS:]} /", *sentences) if previous else sentences)
    start = len(whole) - len(" ".join(sentences))
    for text in sentences:
        end = start + len(text)
        before = whole[max(0, start - MOST_BEFORE - 2) : max(0, start - 1)]
        after = whole[end + 1 : end + MOST_AFTER + 2]
        yield Sentence(around(before, after), text)
        start = end + 1
