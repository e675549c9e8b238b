"""Finds the clause of a memory that a candidate ends while the others still hold. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from schemas.extraction.relations import Pair, Relation

# Between the sentences of a text (abbreviations are short), and between the clauses of a sentence, in the languages of the model.
SEPARATOR: Final = re.compile(
    r"(?P<sentence>(?<=\w{4})[.!?…]+\s+|;\s+)|,?\s+(?:and|but|und|aber|et|mais|y|e|pero)\s+|,\s+|\s[-–—]\s",
    re.IGNORECASE,
)
LAST_MARKS: Final = " .!?…"
MOST_CLAUSES: Final = 6  # of a memory whose clauses are compared
LEAST_WORDS: Final = 3  # of a text that remains
MAY_END: Final = 0.6  # least probability that the memory ends, as a whole or in part
CLAUSE_ENDS: Final = 0.6  # least probability that the clause ends
REST_HOLDS: Final = 0.5  # least probability that the remaining text holds


class Cut(NamedTuple):
    """A clause, the part of the text that leaves with it, and the text that remains. `has_subject`: the clauses behind it are
    of its sentence, so they may lack their subject without it."""

    clause: str
    removed: str
    rest: str
    has_subject: bool


def cuts_of(text: str) -> tuple[Cut, ...]:
    """The cut of each clause; none for a text of one clause or of more than MOST_CLAUSES. A clause leaves with the separator
    before it, or with the one behind it if it begins a sentence."""
    body = text.rstrip(LAST_MARKS)
    separators = list(SEPARATOR.finditer(body))
    if not 1 <= len(separators) < MOST_CLAUSES:
        return ()
    begins = [True, *(each["sentence"] is not None for each in separators)]
    starts, ends = [0, *(each.end() for each in separators)], [*(each.start() for each in separators), len(body)]
    cuts = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        leaves_first = begins[number] and number < len(separators)
        span = (start, starts[number + 1]) if leaves_first else (ends[number - 1], end)
        has_subject = leaves_first and not begins[number + 1]
        cuts.append(Cut(text[start:end], text[slice(*span)], text[: span[0]] + text[span[1] :], has_subject))
    return tuple(each for each in cuts if len(each.rest.split()) >= LEAST_WORDS)


def pairs_of_clauses(pair: Pair, relation: Relation) -> Iterator[Pair]:
    """The pairs whose relations tell which clause of the earlier statement ends, if it may end at all."""
    if relation.ends + relation.ends_in_part >= MAY_END:
        for each in cuts_of(pair.earlier):
            yield Pair(each.clause, pair.later)
            yield Pair(each.rest, pair.later)


def text_without_ended_clause(text: str, pair: Pair, relations: Mapping[Pair, Relation]) -> str | None:
    """The text of a memory without the clause that ends; None unless one clause ends and the rest holds. `pair.earlier` is the
    text, or the quoted words if it is a quotation: there the subject may be absent."""
    is_quotation = text != pair.earlier
    found: list[tuple[float, str]] = []
    for each in cuts_of(pair.earlier):
        clause, rest = relations.get(Pair(each.clause, pair.later)), relations.get(Pair(each.rest, pair.later))
        if clause is None or rest is None or text.count(each.removed) != 1 or (each.has_subject and not is_quotation):
            continue
        if clause.ends >= CLAUSE_ENDS and rest.holds + rest.same >= REST_HOLDS:
            found.append((clause.ends + rest.holds, text.replace(each.removed, "")))
    return max(found)[1] if found else None
