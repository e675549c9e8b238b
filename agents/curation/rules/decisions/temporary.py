"""Decides whether a temporary statement ends a memory, or only interrupts it. Pure."""

import re
from datetime import datetime
from typing import Final

from agents.curation.rules.ledger.sources import last_said
from agents.curation.rules.statements.statement import statement
from agents.models.dates.validity import validity
from agents.models.offline.rules.engine.languages import language_of
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory

RUNS_OUT: Final = re.compile(
    r"\b(?:expires?|runs? out|(?<!the )ends?|lapses?|is over|läuft .*\b(?:ab|aus)|endet|prend fin|se termine|vence|termina"
    r"|caduca)\b",
    re.IGNORECASE,
)


def can_hold_beside(candidate: Candidate, memory: Memory) -> bool:
    """Whether one of the two is temporary and the other is not: then neither ends the other."""
    return (candidate.valid_until is not None) != is_bounded(memory)


def is_bounded(memory: Memory) -> bool:
    """Whether the memory is temporary. A permanent memory has an end only with a successor."""
    return memory.valid_until is not None and memory.superseded_by is None


def runs_out(candidate: Candidate, memory: Memory) -> bool:
    """Whether the candidate says that the memory, which names no end of its own, ends with it: "the membership ends in May"."""
    if RUNS_OUT.search(candidate.text) is None or is_bounded(memory) or names_its_end(memory):
        return False
    return not set(statement(candidate.text).content).isdisjoint(statement(memory.text).content)


def names_its_end(memory: Memory) -> bool:
    """Whether the text says until when the memory holds: "the visa is valid until June"."""
    said, language = last_said(memory.sources), language_of(memory.text)
    if said is None or language is None:
        return False
    return validity(memory.text, said, language).valid_until is not None


def is_interrupted(candidate: Candidate, memory: Memory, until: datetime | None = None) -> bool:
    """Whether the candidate is temporary and the memory is not. A candidate that says the same
    with an end ("works at Kone until June") and one whose end is past do not count, nor one that says that something runs out
    ("the permit expires in June") if the memory ends at `until`."""
    said = last_said(candidate.sources)
    if candidate.valid_until is None or (said is not None and candidate.valid_until <= said):
        return False
    if is_bounded(memory) or names_its_end(memory):
        return False
    if until is not None and RUNS_OUT.search(candidate.text):
        return False
    new, old = statement(candidate.text), statement(memory.text)
    return not set(old.content) <= set(new.content) or (new.negated is None) != (old.negated is None)
