"""What the languages share that write a memory from a template instead of turning the clause itself."""

import re

from agents.models.offline.rules.rule import Rule, starting


def templated(pattern: str, text: str, kind: str, importance: float, *tags: str, dated: bool = False) -> Rule:
    """A rule of these languages: `text` is filled with the pattern's groups."""
    return Rule(
        pattern=starting(pattern), text=text, kind=kind, importance=importance, tags=tags, confidence=0.85, dated=dated
    )


def unchanged(text: str) -> str:
    return text


def replacing(words: dict[str, str]) -> "Replacing":
    return Replacing(words)


class Replacing:
    """Replaces whole words, as for the possessives of the first person inside an object."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words
        self._pattern = re.compile(r"\b(" + "|".join(words) + r")\b", re.IGNORECASE)

    def __call__(self, text: str) -> str:
        # Matching without case takes `İch` for `ich`, which `lower` does not: such a word is left alone.
        return self._pattern.sub(lambda found: self._words.get(found[0].lower(), found[0]), text)
