"""A rule: a trigger, and what must stand right before and behind it for it to mean what it seems to mean.

Rules are tried only where their trigger occurs, at a bounded number of places, and look at a bounded stretch on either
side, so that a text costs time in proportion to its length, whoever wrote it.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

START: Final = "\n"  # in flattened text a newline stands around it all and where a sentence ends
END: Final = r"(?= ?\n)"
MOST_PLACES: Final = 100  # of triggers in a text that are looked at


class Rule(NamedTuple):
    """`after`: one of these stands before a trigger (none: anything may); `unless`: none of these does.

    `then` matches what follows it, from the space behind it on.
    """

    triggers: tuple[str, ...]
    after: tuple[str, ...]
    unless: tuple[str, ...]
    then: re.Pattern[str] | None

    def holds(self, text: str, start: int, end: int) -> bool:
        """Whether the trigger at text[start:end] means what the rule looks for; `text` is flattened."""
        _, after, unless, then = self
        if unless and text.endswith(unless, 0, start):
            return False
        if after and not text.endswith(after, 0, start):
            return False
        return then is None or then.match(text, end) is not None


def rule(triggers: str, *, after: Iterable[str] = (), unless: Iterable[str] = (), then: str | None = None) -> Rule:
    """A rule for each of the triggers, words or phrases such as `do+not`.

    `then` is a regular expression without unbounded repetition. A common word is best made part of a phrase.
    """
    phrases = tuple(trigger.replace("+", " ") for trigger in triggers.split())
    return Rule(phrases, _spaced(after), _spaced(unless), re.compile(then) if then else None)


def _spaced(endings: Iterable[str]) -> tuple[str, ...]:
    """A sentence begins with or without a space behind its newline."""
    return tuple(form for ending in endings for form in dict.fromkeys((ending, ending.replace(START, f"{START} "))))
