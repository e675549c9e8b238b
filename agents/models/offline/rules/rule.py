"""What a rule and a language are made of. The tables are beside this file; `reading` applies them."""

import re
from collections.abc import Callable

from msgspec import Struct

ISO_DATE = r"\d{4}-\d{2}-\d{2}"


class Topic(Struct, frozen=True, kw_only=True):
    """What a statement is about: how much it matters, whatever form it has, and its kind if that follows from it."""

    about: re.Pattern[str]
    importance: float
    tags: tuple[str, ...]
    kind: str | None = None


class Rule(Struct, frozen=True, kw_only=True):
    """One kind of sentence worth keeping.

    `pattern` must match at the start of a clause; its groups `old` and `new` name the ends of a change, its other groups
    fill `text`. Without a `text` the clause itself is put into the third person. `dated` rules hold only with a date that
    is to come; a `timeless` rule keeps its dates as they were said (birthdays recur). The first of its `topics` that the clause
    is about gives importance and tags instead of the rule's own.
    """

    pattern: re.Pattern[str]
    kind: str
    importance: float
    confidence: float = 0.85
    tags: tuple[str, ...] = ()
    text: str | None = None
    dated: bool = False
    timeless: bool = False
    topics: tuple[Topic, ...] = ()


class Tongue(Struct, frozen=True, kw_only=True):
    """A language: how its sentences come apart, what makes them doubtful, and its rules.

    `changes` are tried on whole sentences before `rules` are tried on clauses; the first match wins.
    `fronted` finds an adverbial before the subject: it is moved to the end, or behind the verb where that came first, too.
    `casual` objects ("I love it") say nothing; `doubt` is the remark on what was said with a "probably".
    `third` turns the verb of a first person, in a rule's group `verb`.
    `feelings` are tried after the others, where they are asked for.
    """

    code: str
    normalise: Callable[[str], str]
    reword: Callable[[str], str]
    third: Callable[[str], str] = str
    lead_in: re.Pattern[str]
    fronted: re.Pattern[str]
    clause_break: re.Pattern[str]
    question: re.Pattern[str]
    doubtful: re.Pattern[str]
    unreal: re.Pattern[str]
    casual: re.Pattern[str]
    doubt: str
    changes: tuple[Rule, ...]
    rules: tuple[Rule, ...]
    feelings: tuple[Rule, ...] = ()


def starting(pattern: str) -> re.Pattern[str]:
    """A clause that starts like this, whatever its case; `(?-i:[A-Z])` inside a pattern asks for a capital."""
    return re.compile(r"^(?:" + pattern + r")", re.IGNORECASE)


def anywhere(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
