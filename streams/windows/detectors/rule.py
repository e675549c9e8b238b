"""A rule: a trigger with conditions on the words right before and after it.

Rules are tried only where their trigger occurs, at a bounded number of places and with bounded context, so the time is
linear in the length of any text.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

START: Final = "\n"  # flattened text has a newline at its start, its end, and each end of a sentence
END: Final = r"(?= ?\n)"
MAX_PLACES: Final = 100  # triggers examined in one text


class Rule(NamedTuple):
    """Conditions on the text around a trigger: the text before it ends with one of `after` (if there are any) and with none of
    `unless`.

    `then`, if set, matches the text behind it, beginning with the space.
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

    `then` is a regular expression without unbounded repetition. Use a common word only as a part of a phrase.
    """
    phrases = tuple(trigger.replace("+", " ") for trigger in triggers.split())
    return Rule(phrases, _spaced(after), _spaced(unless), re.compile(then) if then else None)


def _spaced(endings: Iterable[str]) -> tuple[str, ...]:
    """Adds variants with a space behind the newline: a sentence begins with or without one."""
    return tuple(form for ending in endings for form in dict.fromkeys((ending, ending.replace(START, f"{START} "))))
