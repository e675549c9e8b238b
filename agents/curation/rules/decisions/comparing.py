"""Chooses the statements that a model compares with each other, and reads its answers. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from agents.curation.rules.attributes.attribute_values import OF_SEVERAL
from agents.curation.rules.attributes.named_things import core, subject_of
from agents.curation.rules.decisions.clauses import (
    MEMORY_ENDS,
    cuts_of,
    pairs_of_clauses,
    pairs_of_cuts,
    text_without_ended_clause,
)
from agents.curation.rules.decisions.incoming import contradicted_ids
from agents.curation.rules.ledger.ledger import Concern, Ledger, cosine
from agents.curation.rules.ledger.scored import Scored
from agents.curation.rules.ledger.sources import new_sources, said_later
from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import statement
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.lasting_instructions.wording import wording
from agents.models.one_language import UNDETERMINED, primary_subtag
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from sinks.classification.port import LANGUAGES, Pair, Relation
from sinks.vectors.port import Neighbour, Vector

MOST_COMPARED: Final = 6  # per candidate, the nearest first
# The beginning of a statement whose subject has a number: "Room 3 is ...".
NUMBERED: Final = re.compile(r"\W*(?:(?:the|der|die|das|le|la|el) )?([^\W\d_]+) (\d+)\b", re.IGNORECASE)
DISPOSALS: Final = words.words("sold verkauft verkaufte vendu vendue vendió vendido")
REASON: Final = "the candidate replaces it"
SAYS_SAME: Final = 0.8  # least probability of `same` that confirms a language model's answer


def pairs_to_compare(
    ledger: Ledger,
    candidates: Sequence[Candidate],
    concerns: Sequence[Concern],
    neighbours: Sequence[Sequence[Neighbour]],
    vector_of: Callable[[str], Vector],
    comparable: float,
) -> tuple[Pair, ...]:
    """Each new candidate with the live memories and the other candidates, in the languages of the model, that have a cosine of at
    least `comparable`, but not with those of the same messages. A candidate that names related memories is only compared with
    the one that it repeats or refines. `concerns` are those of the candidates. `vector_of` raises NeedsVectors."""
    pairs: dict[Pair, None] = {}
    for candidate, concerned, found in zip(candidates, concerns, neighbours, strict=True):
        if not is_compared(candidate) or not ledger.is_new(candidate, concerned):
            continue
        vector = vector_of(candidate.text)
        near: list[tuple[float, Memory | Candidate]] = [
            (each.score, each.memory)
            for each in ledger.neighbours(vector, found)
            if concerned(each.memory) and may_be_compared(candidate, each.memory)
        ]
        if not names_others(candidate):
            near += [
                (cosine(vector, vector_of(other.text)), other) for other in candidates if new_sources(candidate, other)
            ]
        ranked = sorted(near, key=lambda each: -each[0])
        texts = (each.text for score, each in ranked if score >= comparable and is_compared(each))
        pairs |= dict.fromkeys(pair_of(text, candidate.text) for text in nearest_others(texts, candidate.text))
    return tuple(pairs)


def missing_pairs(pairs: Sequence[Pair], relations: Mapping[Pair, Relation]) -> list[Pair]:
    """Those of the pairs whose relation is not known, otherwise those of the clauses of statements that end."""
    if missing := [pair for pair in pairs if pair not in relations]:
        return missing
    of_clauses = (each for pair in pairs for each in pairs_of_clauses(pair, relations[pair]))
    return [pair for pair in dict.fromkeys(of_clauses) if pair not in relations]


def clauses_to_compare(ledger: Ledger, candidates: Sequence[Candidate], concerns: Sequence[Concern]) -> Iterator[Pair]:
    """The pairs whose relations tell which clause ends of the memories that candidates name as ended, MOST_COMPARED at most per
    candidate."""
    for candidate, concerned in zip(candidates, concerns, strict=True):
        if not is_compared(candidate) or not ledger.is_new(candidate, concerned):
            continue
        named = (memory for each in contradicted_ids(candidate) if (memory := ledger.find_live(each)) is not None)
        may_stay = (
            each
            for each in named
            if is_compared(each) and concerned(each) and may_end_in_part(each) and not said_later(each, candidate)
        )
        for memory in islice(may_stay, MOST_COMPARED):
            yield from pairs_of_cuts(pair_of(memory.text, candidate.text))


def may_be_compared(candidate: Candidate, memory: Memory) -> bool:
    """Whether the model compares the two: any memory of other messages, unless the candidate names those that it is about."""
    if names_others(candidate):
        return memory.memory_id in (candidate.repeats, candidate.refines)
    return bool(new_sources(candidate, memory))


def names_others(candidate: Candidate) -> bool:
    """Whether the candidate names memories or candidates that it ends, corrects, refines or repeats."""
    named = candidate.contradicts, candidate.supersedes, candidate.corrects, candidate.refines, candidate.repeats
    return any(named)


def pair_of(earlier: str, later: str) -> Pair:
    """The pair in the form in which the model compares it."""
    return Pair(unquoted(earlier), unquoted(later))


def unquoted(text: str) -> str:
    """The text; a quotation at its beginning is replaced by the quoted words."""
    found = (wording(language).quotation.match(text) for language in LANGUAGES)
    quotation = next((each for each in found if each is not None), None)
    return text if quotation is None else quotation[1] + text[quotation.end() :]


def nearest_others(texts: Iterator[str], text: str) -> list[str]:
    """The first MOST_COMPARED texts that differ from `text` after normalisation."""
    others = dict.fromkeys(each for each in texts if normalise(each) != normalise(text))
    return list(others)[:MOST_COMPARED]


def is_replaced(candidate: Candidate, memory: Memory, relations: Mapping[Pair, Relation]) -> bool:
    """Whether the memory no longer holds once the candidate does, by the model's answer. The model assumes that the candidate
    is the later statement, so its answer is ignored for memories that were said later, for things with another number, and for
    people with another name."""
    relation = relations.get(pair_of(memory.text, candidate.text))
    if relation is None or relation.ends < MEMORY_ENDS or said_later(memory, candidate):
        return False
    texts = memory.text, candidate.text
    return not (numbers_tell_apart(*texts) or names_tell_apart(*texts) or change_tells_apart(*texts))


def confirmed_ids(candidate: Candidate, near: Sequence[Scored], relations: Mapping[Pair, Relation]) -> frozenset[str]:
    """The ids of memories that the candidate repeats or refines by a language model's answer, and says the same as by the
    comparison of both."""
    named = (each.memory for each in near if each.memory.memory_id in (candidate.repeats, candidate.refines))
    found = ((each.memory_id, relations.get(pair_of(each.text, candidate.text))) for each in named)
    return frozenset(memory_id for memory_id, relation in found if relation and relation.same >= SAYS_SAME)


def rest_of_memory(candidate: Candidate, memory: Memory, relations: Mapping[Pair, Relation]) -> str | None:
    """The text of a replaced memory without the only clause that no longer holds; None if it ends as a whole."""
    if not may_end_in_part(memory):
        return None
    return text_without_ended_clause(memory.text, pair_of(memory.text, candidate.text), relations)


def may_end_in_part(memory: Memory) -> bool:
    """Whether a clause may leave the memory's text: a full text or an end may be of any clause."""
    return memory.full_text is None and memory.valid_until is None


def numbers_tell_apart(text: str, other: str) -> bool:
    """Whether the subjects differ only in a number: "Room 3 is upstairs", "Room 4 is downstairs"."""
    one, another = NUMBERED.match(text), NUMBERED.match(other)
    if one is None or another is None:
        return False
    return one[1].lower() == another[1].lower() and one[2] != another[2]


def names_tell_apart(text: str, other: str) -> bool:
    """Whether the subjects differ in a name: two friends ("friend Uwe sings", "friend Omar moved"), or the same statement about
    two people ("Anna bakes bread", "Ben bakes bread"). A name that is the value may change: "boss is Eva", "Eva is the boss"."""
    one, another = statement(text), statement(other)
    mine, theirs = subject_of(one), subject_of(another)
    if OF_SEVERAL & mine & theirs and (mine - OF_SEVERAL) and (theirs - OF_SEVERAL):
        return mine.isdisjoint(theirs - OF_SEVERAL)
    return None not in (one.subject, another.subject) and says_alike_of_others(one.tokens, another.tokens)


def change_tells_apart(text: str, other: str) -> bool:
    """Whether one of the texts says beside something else that a state is over ("no longer eats meat, vegetarian since March"),
    and the other has none of its words, or their opposites, besides a subject that both have. The model takes such statements
    for the end of unrelated ones."""
    if not (ends_in_a_clause(text) or ends_in_a_clause(other)):
        return False
    one, another = statement(text), statement(other)
    subject = {meaning(one.subject)} if one.subject and one.subject == another.subject else set[str]()
    unspecific = stems(words.GENERIC_SUBJECTS | words.BEFORE_A_MONTH)
    opposites = {meaning(each) for token in one.tokens for each in words.OPPOSITES.get(token, ())}
    return ((core(one) - subject - unspecific) | opposites).isdisjoint(core(another))


def ends_in_a_clause(text: str) -> bool:
    """Whether the text has several clauses, and one says that a state is over or a thing sold."""
    said = statement(text)
    return (said.ended or not DISPOSALS.isdisjoint(said.tokens)) and bool(cuts_of(text))


def says_alike_of_others(tokens: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the texts differ in their first word alone, and no "is" or "has" follows it."""
    is_alike = len(tokens) > 1 and tokens[0] != others[0] and tokens[1:] == others[1:]
    return is_alike and tokens[1] not in words.IS | words.WAS | words.COPULAS


def is_compared(of: Memory | Candidate) -> bool:
    """Whether the model supports the language: the declared one, otherwise the one detected from the words."""
    declared = of.language if of.language != UNDETERMINED else None
    return (primary_subtag(declared) if declared else language_of(of.text)) in LANGUAGES
