"""A rule: a trigger word, and what must stand right before and behind it for the word to mean what it seems to mean.

Rules are tried only where their word occurs, and look at a bounded stretch on either side, so that a text costs time in
proportion to its length, whoever wrote it.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

START = "\n"  # cleaned text has a newline at its start and its end, and for each mark that ends a sentence
END = r"(?=\n)"
MOST_PLACES = 4  # of one word that are looked at


class Rule(NamedTuple):
    """`after`: one of these stands before the word (none: anything may); `unless`: none of these does.

    `then` matches what follows the word.
    """

    words: tuple[str, ...]
    after: tuple[str, ...]
    unless: tuple[str, ...]
    then: re.Pattern[str] | None

    def holds(self, text: str, start: int, end: int) -> bool:
        """Whether the word at text[start:end] means what the rule looks for; `text` is flattened."""
        if self.unless and text.endswith(self.unless, 0, start):
            return False
        if self.after and not text.endswith(self.after, 0, start):
            return False
        return self.then is None or self.then.match(text, end) is not None


def rule(words: str, *, after: Iterable[str] = (), unless: Iterable[str] = (), then: str | None = None) -> Rule:
    """A rule for each of the words; `then` is a regular expression without unbounded repetition."""
    return Rule(tuple(words.split()), tuple(after), tuple(unless), re.compile(then) if then else None)


def places(text: str, word: str) -> list[tuple[int, int]]:
    """Where the word stands alone in flattened text: the first few [start, end) pairs."""
    found: list[tuple[int, int]] = []
    start = text.find(word)
    while start >= 0 and len(found) < MOST_PLACES:
        end = start + len(word)
        if text[start - 1] in " \n" and text[end] in " \n":
            found.append((start, end))
        start = text.find(word, end)
    return found
