"""Finer kinds of facts, if the policy has them: people, places, skills, problems, events."""

import re
from collections.abc import Collection
from typing import Final

from agents.models.offline.rules.tables.english_statements import KIN

PEOPLE: Final = rf"(?:{KIN}|friends?|boss|manager|colleagues?|co-?workers?|neighbou?rs?|teacher|mentor|coach|therapist)"
# In the third person, as in memories: "User's sister is called Ana."
PERSON: Final = re.compile(rf"User(?:'s|s') (?:\w+ ){{0,2}}?{PEOPLE}(?:'s)? |User has (?:\w+ ){{0,3}}?{PEOPLE}\b", re.I)
LOCATION: Final = re.compile(
    r"User (?:\w+ )?(?:lives|lived|resides|grew up|comes|is (?:originally )?from|was born in(?! \d)|is based|moved|relocated)\b",
    re.I,
)
SKILL: Final = re.compile(
    r"User (?:\w+ )?(?:can (?:\w+ )?(?:play|speak|sing|dance|cook|bake|swim|ski|code|drive|ride|draw|paint|sew|knit|juggle|surf"
    r"|read|write|program|climb|dive|sail)|speaks|plays (?:the|piano|guitar|violin|chess)|knows (?:how to|Python|Java|SQL)"
    r"|is (?:fluent|learning|proficient|good at|trained|certified)|has (?:learned|learnt|mastered)|codes|programs)\b",
    re.I,
)
PROBLEM: Final = re.compile(
    r"User (?:\w+ )?(?:struggles|suffers|has (?:\w+ ){0,3}?(?:trouble|problems?|difficult\w+|insomnia|anxiety|depression"
    r"|migraines?|pain|debts?|panic attacks?|burn-?out)|(?:is|feels) (?:\w+ )?(?:stuck|overwhelmed|burned out|burnt out"
    r"|addicted)|cannot (?:sleep|concentrate|cope|afford))\b",
    re.I,
)
EVENT: Final = re.compile(
    r"User (?!is |was m)(?:\w+ )?(?:graduated|married|got|broke|lost|won|met|adopted|bought|sold"
    r"|was (?:fired|promoted|hired|laid off))\b",
    re.I,
)
ENGLISH: Final = (
    ("person", PERSON),
    ("problem", PROBLEM),
    ("skill", SKILL),
    ("location", LOCATION),
    ("event", EVENT),
)
# Tags are the same in every language.
TAGGED: Final = (("person", "family"), ("skill", "languages"), ("location", "home"), ("event", "event"))
ABOUT_ALONE: Final = re.compile(r"User (?:is|was) (?:\w+ )?(?:married|engaged|divorced|widowed|single)\b", re.I)
KEPT: Final = frozenset(("allergy", "diet", "name"))  # always facts, whatever they name


def finer_kind(kind: str, text: str, tags: Collection[str], known: Collection[str]) -> str:
    """The kind of a statement: for a fact the first finer kind of the policy that fits its words or tags."""
    if kind != "fact" or not KEPT.isdisjoint(tags):
        return kind
    said = (name for name, pattern in ENGLISH if pattern.match(text))
    tagged = () if ABOUT_ALONE.match(text) else (name for name, tag in TAGGED if tag in tags)
    return next((name for name in (*said, *tagged) if name in known), kind)
