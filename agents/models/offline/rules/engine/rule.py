"""The types of rules and languages. `tables` has the rules; `rule_engine` applies them."""

import re
from collections.abc import Callable

from msgspec import Struct


class Topic(Struct, frozen=True, kw_only=True):
    """The topic of a statement: its importance in any sentence form, and its kind, if the topic implies one."""

    about: re.Pattern[str]
    importance: float
    tags: tuple[str, ...]
    kind: str | None = None


class Rule(Struct, frozen=True, kw_only=True):
    """One form of sentence to extract.

    `pattern` must match at the start of a clause. Its groups `old` and `new` are the two states of a change; the other
    groups fill `text`. Without a `text` the clause is put into the third person. `dated` rules require a future date;
    `timeless` rules keep dates unchanged (birthdays recur). The first of its `topics` that fits the clause replaces
    the rule's importance and tags.
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


class LanguageRules(Struct, frozen=True, kw_only=True, eq=False):
    """A language: how to split sentences, which words express doubt, and its rules.

    `changes` are tried on whole sentences, then `rules` on clauses; the first match wins. `fronted` finds an adverbial
    before the subject, which is moved to the end (or after the verb, if the verb also precedes the subject). `casual` objects
    ("I love it") are ignored. `reword` converts a text to the third person. A reworded text whose subject is the speaker begins
    with the `pronoun`; in a memory the `subject` replaces it. `doubt` is the remark for statements with words such as "probably".
    `third` converts the verb in a rule's group `verb` to the third person. `feelings` are tried last, if the policy wants
    them.
    """

    code: str
    normalise: Callable[[str], str]
    reword: Callable[[str], str]
    subject: str
    pronoun: str
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
    """A pattern for the start of a clause, case-insensitive; `(?-i:[A-Z])` inside requires a capital."""
    return re.compile(r"^(?:" + pattern + r")", re.IGNORECASE)


def anywhere(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
