"""Finds the clause of a memory, or the item of its list, that a candidate ends while the others still hold. Pure."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from agents.curation.rules.statements.statement import statement
from agents.curation.rules.statements.words import CONJUNCTIONS, PREPOSITIONS
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.engine.sentences import BREAK
from agents.models.offline.rules.findings.relations import REMARK
from agents.models.offline.rules.lasting_instructions.instructions import has_limit
from agents.models.offline.rules.lasting_instructions.wording import remark_of
from sinks.classification.port import Pair, Relation

SEPARATORS: Final = {
    language: re.compile(rf",?\s+(?:{words})\s+|[,;]\s+|\s[-–—]\s") for language, words in CONJUNCTIONS.items()
}
LISTING: Final = {"en": "and|or", "de": "und|oder", "fr": "et|ou", "es": "y|e|o|u"}
LAST_WORD: Final = re.compile(
    r"(?:\b(?:an?|the|der|die|das|eine?n?|keine?n?|une?|le|la|les|un|una|el|los|las) )?\S+$", re.IGNORECASE
)
LAST_MARKS: Final = " .!?…"
BRACKETS: Final = ("()", "[]", "«»", "„“", "“”")
QUOTE: Final = re.compile(r"\"|(?<!\w)'|'(?!\w)")
BETWEEN: Final = re.compile(r"\b(?:between|zwischen|entre)\b[^,;]*$", re.IGNORECASE)
LAST_NAME: Final = re.compile(r"[A-ZÀ-Þ][^\s,;]*$")
MOST_CLAUSES: Final = 6  # of a memory whose clauses are compared
LEAST_WORDS: Final = 2  # of a clause
MOST_ITEM_WORDS: Final = 3  # of an item in a list
LEAST_REST: Final = 3  # words of the text that remains
MEMORY_ENDS: Final = 0.8  # least probability at which a memory ends
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
        """Whether no half bracket or quotation, no fragment and no clauses without their negation remain."""
        is_whole = all(self.removed.count(first) == self.removed.count(last) for first, last in BRACKETS)
        is_whole = is_whole and len(QUOTE.findall(self.removed)) % 2 == 0
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
    sentences = [0, *(each.end() for each in BREAK.finditer(body)), len(body)]
    clauses = [clause for start, end in pairwise(sentences) for clause in clauses_in(body, start, end, separator)]
    if not 1 < len(clauses) <= MOST_CLAUSES:
        return ()
    return tuple(cut for number in range(len(clauses)) if (cut := cut_of(text, clauses, number, sentences)).is_clean)


def cut_of_named_item(text: str, later: str) -> Cut | None:
    """The cut of the only item that the later statement names of the list at the end of a limit: "penicillin" of "allergic to
    penicillin, shellfish and nuts". Its clause is the item with what precedes the list. None for texts with numbers, which may
    count the items, and for other texts: their last words may be predicates ("works in sales, lives in Leeds and runs")."""
    body, language = text.rstrip(LAST_MARKS), language_of(text)
    if (
        language not in LISTING
        or not has_limit(text, language)
        or REMARK.search(text)
        or BREAK.search(body)
        or statement(text).numbers
    ):
        return None
    separators = list(re.finditer(rf",?\s+(?P<last>{LISTING[language]})\s+|,\s+", body))
    if not separators or [bool(each["last"]) for each in separators] != [False] * (len(separators) - 1) + [True]:
        return None
    begins = first_item_of(body[: separators[0].start()], language)
    starts = [begins, *(each.end() for each in separators)]
    items = list(zip(starts, [*(each.start() for each in separators), len(body)], strict=True))
    if any(len(text[start:end].split()) > MOST_ITEM_WORDS for start, end in items):
        return None
    said = set(statement(later).content)
    named = [
        number
        for number, (start, end) in enumerate(items)
        if (words := set(statement(text[start:end]).content)) and words <= said
    ]
    if len(named) != 1:
        return None
    start, end = items[named[0]]
    place = slice(start, starts[1]) if named[0] == 0 else slice(items[named[0] - 1][1], end)
    rest = text[: place.start] + text[place.stop :]
    cut = Cut(text[:begins] + text[start:end], text[place], rest, begins=False, followed=False)
    return cut if cut.is_clean else None


def first_item_of(beginning: str, language: str) -> int:
    """The place of a list's first item in the text before its first separator: what follows the last preposition, otherwise the
    last word with its article."""
    prepositions = [*re.finditer(rf"\b(?:{PREPOSITIONS[language]}) ", beginning, re.IGNORECASE)]
    last_word = LAST_WORD.search(beginning)
    return prepositions[-1].end() if prepositions else last_word.start() if last_word else 0


def clauses_in(body: str, start: int, end: int, separator: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The places of the clauses of a sentence, without its last marks."""
    for found in separator.finditer(body, start, end):
        if not belongs_together(body[start : found.start()], found[0], body[found.end() : end]):
            yield start, found.start()
            start = found.end()
    yield start, len(body[:end].rstrip(LAST_MARKS))


def belongs_together(before: str, separator: str, after: str) -> bool:
    """Whether the separator divides no clauses: in dates and ranges ("May 5, 1990", "between 5 and 7") and between names ("Smith
    and Sons", "Mais und Kartoffeln")."""
    if before[-1:].isdigit() and after[:1].isdigit():
        return True
    is_word = separator.strip(" ,;").isalpha()
    return is_word and (
        BETWEEN.search(before) is not None or (LAST_NAME.search(before) is not None and after[:1].isupper())
    )


def cut_of(text: str, clauses: list[tuple[int, int]], number: int, sentences: list[int]) -> Cut:
    start, end = clauses[number]
    next_start = clauses[number + 1][0] if number + 1 < len(clauses) else None
    leaves_with_next = start in sentences and next_start is not None
    place = slice(start, next_start) if leaves_with_next else slice(clauses[number - 1][1], end)
    return Cut(
        clause=text[start:end],
        removed=text[place],
        rest=text[: place.start] + text[place.stop :],
        begins=start in sentences,
        followed=next_start is not None and next_start not in sentences,
    )


def is_negative(clause: str) -> bool:
    said = statement(clause)
    return said.negated is not None or said.denied


def pairs_of_clauses(pair: Pair, relation: Relation) -> Iterator[Pair]:
    """The pairs whose relations tell whether only a clause of the earlier statement ends, if it ends."""
    if relation.ends >= MEMORY_ENDS:
        yield from pairs_of_cuts(pair)


def cuts_to_judge(pair: Pair) -> tuple[Cut, ...]:
    """The cut of a list's item that the later statement names, otherwise those of the clauses."""
    item = cut_of_named_item(pair.earlier, pair.later)
    return cuts_of(pair.earlier) if item is None else (item,)


def pairs_of_cuts(pair: Pair) -> Iterator[Pair]:
    """Each clause and each rest of the earlier statement, with the later one."""
    for each in cuts_to_judge(pair):
        yield Pair(each.clause, pair.later)
        yield Pair(each.rest, pair.later)


def text_without_ended_clause(text: str, pair: Pair, relations: Mapping[Pair, Relation]) -> str | None:
    """The text of a memory without the clause that ends; None unless exactly one of the cuts has a clause that ends, and its rest
    holds. `pair.earlier` is the text, or the quoted words if it is a quotation. A statement keeps the clauses that carry a
    subject."""
    ended = [each for each in cuts_to_judge(pair) if clause_ends(relations.get(Pair(each.clause, pair.later)))]
    if len(ended) != 1:
        return None
    (cut,) = ended
    rest = relations.get(Pair(cut.rest, pair.later))
    carries_subject = cut.begins and (cut.followed or text.startswith(cut.removed)) and text == pair.earlier
    if rest is None or rest.holds + rest.same < REST_HOLDS or carries_subject or text.count(cut.removed) != 1:
        return None
    return text.replace(cut.removed, "")


def clause_ends(relation: Relation | None) -> bool:
    return relation is not None and relation.ends >= CLAUSE_ENDS
