"""Finds the clause of a memory that a candidate ends while the others still hold. Pure."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from agents.curation.rules.statements.statement import statement
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.engine.sentences import BREAK
from agents.models.offline.rules.findings.relations import REMARK
from agents.models.offline.rules.standing.wording import remark_of
from sinks.classification.port import Pair, Relation

CONJUNCTIONS: Final = {"en": "and|but", "de": "und|aber", "fr": "et|mais", "es": "y|e|pero"}
SEPARATORS: Final = {
    language: re.compile(rf",?\s+(?:{words})\s+|[,;]\s+|\s[-–—]\s") for language, words in CONJUNCTIONS.items()
}
LAST_MARKS: Final = " .!?…"
MOST_CLAUSES: Final = 6  # of a memory whose clauses are compared
LEAST_WORDS: Final = 2  # of a clause
LEAST_REST: Final = 3  # words of the text that remains
ENDS: Final = 0.8  # least probability at which a memory ends
CLAUSE_ENDS: Final = 0.6  # least probability that the clause ends
REST_HOLDS: Final = 0.5  # least probability that the remaining text holds


class Cut(NamedTuple):
    """A clause, the part of the text that leaves with it, and the text that remains. `begins` a sentence; `followed` by another
    clause of its sentence."""

    clause: str
    removed: str
    rest: str
    begins: bool
    followed: bool

    @property
    def is_clean(self) -> bool:
        """Whether no half bracket, no fragment and no clauses without their negation remain."""
        is_whole = self.removed.count("(") == self.removed.count(")") and self.removed.count('"') % 2 == 0
        is_long = len(self.clause.split()) >= LEAST_WORDS and len(self.rest.split()) >= LEAST_REST
        return is_whole and is_long and not (self.followed and is_negative(self.clause))


def cuts_of(text: str) -> tuple[Cut, ...]:
    """The cuts of single clauses; none for a text of one clause or of more than MOST_CLAUSES, in another language, or with a
    remark, which may be about any of them. A clause leaves with the separator before it, or with the one behind it if it begins
    a sentence."""
    separator = SEPARATORS.get(language_of(text) or "")
    if separator is None or REMARK.search(text) or remark_of(text):
        return ()
    body = text.rstrip(LAST_MARKS)
    begins = [0, *(each.end() for each in BREAK.finditer(body)), len(body)]
    clauses = [clause for start, end in pairwise(begins) for clause in clauses_in(body, start, end, separator)]
    if not 1 < len(clauses) <= MOST_CLAUSES:
        return ()
    return tuple(cut for number in range(len(clauses)) if (cut := cut_of(text, clauses, number, begins)).is_clean)


def clauses_in(body: str, start: int, end: int, separator: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The places of the clauses of a sentence, without its last marks. Dates and ranges ("May 5, 1990", "5 and 7") are not
    divided."""
    for found in separator.finditer(body, start, end):
        if not (body[found.start() - 1].isdigit() and body[found.end() : found.end() + 1].isdigit()):
            yield start, found.start()
            start = found.end()
    yield start, len(body[:end].rstrip(LAST_MARKS))


def cut_of(text: str, clauses: list[tuple[int, int]], number: int, begins: list[int]) -> Cut:
    start, end = clauses[number]
    next_start = clauses[number + 1][0] if number + 1 < len(clauses) else None
    leaves_with_next = start in begins and next_start is not None
    place = slice(start, next_start) if leaves_with_next else slice(clauses[number - 1][1], end)
    return Cut(
        clause=text[start:end],
        removed=text[place],
        rest=text[: place.start] + text[place.stop :],
        begins=start in begins,
        followed=next_start is not None and next_start not in begins,
    )


def is_negative(clause: str) -> bool:
    said = statement(clause)
    return said.negated is not None or said.denied


def pairs_of_clauses(pair: Pair, relation: Relation) -> Iterator[Pair]:
    """The pairs whose relations tell whether only a clause of the earlier statement ends, if it ends."""
    if relation.ends >= ENDS:
        for each in cuts_of(pair.earlier):
            yield Pair(each.clause, pair.later)
            yield Pair(each.rest, pair.later)


def text_without_ended_clause(text: str, pair: Pair, relations: Mapping[Pair, Relation]) -> str | None:
    """The text of a memory without the clause that ends; None unless exactly one clause ends and the rest holds. `pair.earlier`
    is the text, or the quoted words if it is a quotation. A statement keeps the clause that carries its subject."""
    ended = [each for each in cuts_of(pair.earlier) if ends(relations.get(Pair(each.clause, pair.later)))]
    if len(ended) != 1:
        return None
    (cut,) = ended
    rest = relations.get(Pair(cut.rest, pair.later))
    loses_subject = cut.begins and cut.followed and text == pair.earlier
    if rest is None or rest.holds + rest.same < REST_HOLDS or loses_subject or text.count(cut.removed) != 1:
        return None
    return text.replace(cut.removed, "")


def ends(relation: Relation | None) -> bool:
    return relation is not None and relation.ends >= CLAUSE_ENDS
