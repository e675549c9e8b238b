"""Shared parts of the languages whose rules fill templates instead of converting the clause to the third person."""

import re

from agents.models.offline.rules.engine.rule import Rule, Topic, anywhere, starting


def templated(
    pattern: str,
    text: str,
    kind: str,
    importance: float,
    *tags: str,
    dated: bool = False,
    topics: tuple[Topic, ...] = (),
) -> Rule:
    """A rule whose template `text` the groups of the pattern fill."""
    return Rule(
        pattern=starting(pattern),
        text=text,
        kind=kind,
        importance=importance,
        tags=tags,
        confidence=0.85,
        dated=dated,
        topics=topics,
    )


def topics(likes: str, allergy: str, health: str, home: str, work: str, family: str) -> tuple[Topic, ...]:
    """The topics of statements by a language's words; preferences come first."""
    listed = (
        (likes, 0.6, ("preference",), "preference"),
        (allergy, 0.9, ("health", "allergy"), None),
        (health, 0.85, ("health",), None),
        (home, 0.7, ("home",), None),
        (work, 0.7, ("work",), None),
        (family, 0.65, ("family",), None),
    )
    return tuple(
        Topic(about=anywhere(rf"\b(?:{words})"), importance=importance, tags=tags, kind=kind)
        for words, importance, tags, kind in listed
    )


def unchanged(text: str) -> str:
    return text


class WordReplacement:
    """Replaces whole words, such as possessives of the first person."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words
        self._pattern = re.compile(r"\b(" + "|".join(words) + r")\b", re.IGNORECASE)

    def __call__(self, text: str) -> str:
        # Case-insensitive matching equates `İch` and `ich`, but `lower` does not: such a word stays.
        return self._pattern.sub(lambda found: self._words.get(found[0].lower(), found[0]), text)
