"""What the languages share that write a memory from a template instead of turning the clause itself."""

import re

from agents.models.offline.rules.rule import Rule, Topic, anywhere, starting


def templated(
    pattern: str,
    text: str,
    kind: str,
    importance: float,
    *tags: str,
    dated: bool = False,
    topics: tuple[Topic, ...] = (),
) -> Rule:
    """A rule of these languages: `text` is filled with the pattern's groups."""
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
    """What statements are about, by a language's words; likings come first."""
    told = (
        (likes, 0.6, ("preference",), "preference"),
        (allergy, 0.9, ("health", "allergy"), None),
        (health, 0.85, ("health",), None),
        (home, 0.7, ("home",), None),
        (work, 0.7, ("work",), None),
        (family, 0.65, ("family",), None),
    )
    return tuple(
        Topic(about=anywhere(rf"\b(?:{words})"), importance=importance, tags=tags, kind=kind)
        for words, importance, tags, kind in told
    )


def unchanged(text: str) -> str:
    return text


class Replacing:
    """Replaces whole words, as for the possessives of the first person inside an object."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words
        self._pattern = re.compile(r"\b(" + "|".join(words) + r")\b", re.IGNORECASE)

    def __call__(self, text: str) -> str:
        # Matching without case takes `İch` for `ich`, which `lower` does not: such a word is left alone.
        return self._pattern.sub(lambda found: self._words.get(found[0].lower(), found[0]), text)
