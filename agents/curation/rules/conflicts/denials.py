"""Detects that a statement denies a memory: by a negation, an opposite, or a reversed order."""

from itertools import pairwise

from agents.curation.rules.attributes.attributes import alternatives, opposed_words, table
from agents.curation.rules.attributes.named_things import CONTRACTS, POSSESSION, core, is_planned
from agents.curation.rules.conflicts.denial_scope import denies_statement
from agents.curation.rules.conflicts.denied_things import AVOIDS, is_of_another_thing, is_only_partly
from agents.curation.rules.statements import guards, words
from agents.curation.rules.statements.extent import is_occasional
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.statement import ENDED, Statement
from agents.curation.rules.statements.uncertainty import unknown

PREFIXES = ("un", "in", "dis", "non", "mé", "des")
FILLERS = frozenset(
    map(
        meaning,
        words.words("again anymore turned turns out decided chose wieder encore otra vez ever all currently")
        | words.ENDINGS
        | words.DENIALS,
    )
)
OWNING = words.words("owns own has possesses besitzt possède posee")
CHOOSING = words.words("wants prefers möchte bevorzugt veut préfère quiere prefiere")
NO_PAST = words.words("red bed need feed seed weed speed breed shed wed indeed tired hundred")
CANCELLED = words.words("cancelled canceled")
STOPPED = words.words("stopped stops quit quits")
STOPPED_AT = words.words("the a an at in by for to their his her on")


def denied(new: Statement, old: Statement) -> bool:
    """Whether one statement says that the other is false or over. The denial must cover all of the other statement."""
    if (
        is_denial(new) == is_denial(old)
        or (new.disliked and old.disliked)
        or guards.other_scope(new, old)
        or not words_of_past(new).isdisjoint({"did", "didnt"})
    ):
        return False
    negative, positive = (new, old) if is_denial(new) else (old, new)
    if negative is new and (is_occasional(new) and not is_occasional(old)):
        return False  # denied on that day only
    liking = next((each for each in (negative, positive) if each.preference), negative)
    if negative.preference != positive.preference and not positive.wish and AVOIDS.isdisjoint(liking.tokens):
        return False  # a thing may be used without being liked
    if is_stopped_for_now(negative) or (is_cancelled(negative) and not may_be_cancelled(positive, negative)):
        return False
    said = core(negative) - FILLERS - stems(words.GENERIC_SUBJECTS)
    if not POSSESSION.isdisjoint(positive.tokens):
        said = said - stems(OWNING) or said
    if not said or unknown(said, positive) or negative.quantities - positive.quantities:
        return False
    if is_only_partly(new, old, new_denies=negative is new) or is_of_another_thing(
        negative, positive, said, known=positive is old
    ):
        return False
    if negative.denied or (positive.preference and not AVOIDS.isdisjoint(negative.tokens)):
        return True
    return not is_single_event(positive) and denies_statement(negative, positive, said)


def is_single_event(each: Statement) -> bool:
    """Whether the statement is about a single past event, which no later statement denies."""
    return bool(words_of_past(each) - {"got"}) and not each.wish and words.WAS.isdisjoint(each.tokens)


def is_stopped_for_now(each: Statement) -> bool:
    """Whether something stopped only for a moment: "stopped the car", not "stopped rowing"."""
    return any(
        (token in STOPPED and after in STOPPED_AT) or (token == ENDED and after == "on")
        for token, after in pairwise(each.tokens)
    )


def is_cancelled(each: Statement) -> bool:
    return not CANCELLED.isdisjoint(each.tokens)


def may_be_cancelled(each: Statement, by: Statement) -> bool:
    """Whether the statement is a plan, a contract, a named thing, or on the cancelled day; not one lesson of many."""
    is_contract = not CONTRACTS.isdisjoint(each.tokens)
    return is_planned(each) or is_contract or each.subject is not None or bool(each.quantities & by.quantities)


def is_denial(each: Statement) -> bool:
    """Whether the statement is negative, reports an end, or has a verb that denies ("failed to")."""
    return each.negative or each.ended or each.denied


def opposed(new: Statement, old: Statement) -> bool:
    """Whether the statements differ in one word only, which is the opposite of the other's."""
    mine, theirs = guards.only_in(new, old), guards.only_in(old, new)
    listed = opposed_words()
    pairs = {(a, b) for a in mine for b in theirs if b in listed.get(a, ()) or is_prefixed(a, b)}
    if not CHOOSING.isdisjoint(new.tokens) and not CHOOSING.isdisjoint(old.tokens):
        pairs |= {(a, b) for a in mine for b in theirs if b in alternatives().get(a, ())}
    if not pairs or is_denial(new) != is_denial(old):
        return False
    met_new, met_old = ({pair[side] for pair in pairs} for side in (0, 1))
    empty = words.FUNCTION_WORDS
    return not (mine - met_new - empty) and not (theirs - met_old - empty) and new.quantities == old.quantities


def is_prefixed(one: str, other: str) -> bool:
    return any(one == prefix + other or other == prefix + one for prefix in PREFIXES)


def reversed_comparison(new: Statement, old: Statement) -> bool:
    """Whether both compare the same things in reverse order: "tea over coffee", "coffee over tea"."""
    return new.preference and old.preference and guards.other_order(new, old) and is_denial(new) == is_denial(old)


def words_of_past(each: Statement) -> frozenset[str]:
    copulas = words.COPULAS | words.IS
    verbs = each.tokens[1:3]
    ending = {word for word in verbs if word.endswith("ed") and word not in NO_PAST and copulas.isdisjoint(each.tokens)}
    return frozenset(ending | (set(verbs) & table().past))
