"""Recognises that the subject of a memory was given up, finished, or found after a search."""

import re
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import (
    CONTRACTS,
    POSSESSION,
    Named,
    core,
    holding,
    is_planned,
    named_by,
)
from agents.curation.rules.conflicts.denials import words_of_past
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import ENDS_CLAUSE, is_occasional
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.statement import Statement, is_content, statement

PARTICLES: Final = {"gave": "up away back", "handed": "in", "paid": "off", "given": "up"} | {
    "decided": "against",
    "called": "off",
    "backed": "out",
    "ruled": "out",
    "changed": "mind",
    "fell": "through",
}
YEAR: Final = re.compile(r"(?:19|20)\d\d")
WORKS_ON: Final = re.compile(r" (?:works on|arbeitet an|travaille sur) ")
PASSIVE: Final = words.COPULAS | words.WAS | words.words("been got wurde été sido")
FOUND_BY_CHANCE: Final = re.compile(r"\bfound .* (?:in|on|at|under|behind) (?:the|a|an|their) ")
FOR_PLANS: Final = words.words(
    "decided called backed ruled changed fell cancelled canceled abgesagt annulé canceló cancelado"
)  # verbs that end plans; without a plan they skip one occasion
MEMBERSHIP: Final = words.words(
    "member belongs joined mitglied gehört membre socio socia miembro"
)  # memberships end when they are left
DEBTS: Final = words.words("loan mortgage debt debts overdraft kredit hypothek crédit prêt préstamo hipoteca")
SOLD: Final = words.words(
    "stolen gestohlen volé volée robado robada sold paid gave given verkauft vendu vendió vendido"
)
MAKING: Final = words.words(
    "building writing making designing developing playing reading using painting"
)  # activities that may be quit temporarily
STUDIES: Final = words.words("studying taking learning training studies studiert lernt étudie")
EXAMS: Final = words.words("exam exams test licence license degree preparing prüfung examen")
DEFINITE: Final = words.words(
    "the their his her its s users das den die dem sein seine seinen ihr ihre ihren le la les l son sa ses el los las su sus"
)


def given_up(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate says that all of the memory's subject, or the memory's plan, was left, sold, cancelled or
    finished."""
    ending = table().given_up | table().finished
    if new.negated is not None or new.wish or not ending.isdisjoint(old.tokens):
        return False
    if any(YEAR.fullmatch(each) for each in new.quantities - old.quantities):
        return False  # it names another year
    if words_of_past(old) and POSSESSION.isdisjoint(old.tokens):
        return False
    general = stems(table().general)
    planned = is_planned(old)
    goes_on = planned or any(token.endswith("ing") for token in old.tokens) or WORKS_ON.search(memory) is not None
    if not planned and (is_occasional(new) or new.quantities):
        return False
    for named in given_up_by(candidate, goes_on):
        meant = named.words - general
        if not is_for_good(named, old, planned) or not meant.isdisjoint(stems(words.RELATIONS)):
            continue
        rest = core(old) - named.words - holding() - general - stems(table().planned)
        if meant and meant <= core(old) and (planned or not rest or is_introduced(meant, rest, old)):
            return True
    return False


def is_for_good(named: Named, old: Statement, planned: bool) -> bool:
    """Whether the verb ends this kind of memory: a plan is called off, a club is left, the user's canoe is sold."""
    if named.verb in FOR_PLANS:
        return planned or (named.verb.startswith("cancel") and not CONTRACTS.isdisjoint(old.tokens))
    if named.verb == "paid":
        return planned or not DEBTS.isdisjoint(old.tokens)
    if named.verb in SOLD:
        return (planned and "sell" in core(old)) or (named.definite and not POSSESSION.isdisjoint(old.tokens))
    if named.verb in ("quit", "quits"):
        return MAKING.isdisjoint(old.tokens)
    if named.verb in ("passed", "dropped"):
        return planned or not (STUDIES if named.verb == "dropped" else STUDIES | EXAMS).isdisjoint(old.tokens)
    if named.verb == "closed" or named.verb in words.words("left verlassen quitté dejó"):
        return not (CONTRACTS if named.verb == "closed" else MEMBERSHIP).isdisjoint(old.tokens)
    return True


def is_introduced(named: frozenset[str], rest: set[str], old: Statement) -> bool:
    """Whether "the mortgage" can mean "a mortgage with Santander": the memory has an indefinite article and at most one more
    word."""
    following = zip(old.tokens, (*old.tokens[1:], ""), (*old.tokens[2:], "", ""), strict=False)
    return len(rest) <= 1 and any(
        meaning(word) in named
        and (not after or not is_content(after) or after in words.RELATING or meaning(after) in named)
        for article, word, after in following
        if article in table().indefinite
    )


@lru_cache(maxsize=1_024)
def given_up_by(text: str, goes_on: bool) -> tuple[Named, ...]:
    """The things after each verb that ends something, or before a passive one. Verbs of finishing count only for things that
    lasted (`goes_on`)."""
    tokens = statement(text).tokens
    verbs = table().given_up | (table().finished if goes_on else frozenset())
    found = list[Named]()
    for place, token in enumerate(tokens):
        before, after = tokens[:place], clause(tokens[place + 1 :])
        if token not in verbs or (token in PARTICLES and not set(PARTICLES[token].split()) & set(after)):
            continue
        passive = bool(before) and before[-1] in PASSIVE
        named = before if passive or set(after) <= table().particles else after
        if after[:2] == ("up", "on"):  # "gave up on" names no habit
            continue
        said = " ".join(each for each in named if each not in table().particles)
        definite = table().indefinite.isdisjoint(named) and not DEFINITE.isdisjoint(named)
        found += (replace(each, verb=token, definite=definite) for each in named_by([said]))
    return tuple(found)


def clause(tokens: tuple[str, ...]) -> tuple[str, ...]:
    return tokens[: next((place for place, token in enumerate(tokens) if token in ENDS_CLAUSE), len(tokens))]


def found(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate says that the thing that the memory searches for was found or decided."""
    sought, got = phrase(old.tokens, table().sought), phrase(new.tokens, table().found)
    if not stems(table().sought).isdisjoint(new.content):
        return False
    if not sought or not got or new.negated is not None or new.wish:
        return False
    if is_for_another(new) or is_for_another(old) or (old.names and not set(new.names) <= set(old.names)):
        return False
    if FOUND_BY_CHANCE.search(candidate):
        return False
    return got[-1] in (sought if "between" in old.tokens else sought[-1:])


def is_for_another(each: Statement) -> bool:
    """Whether the thing is for another person: "a flat for Ida", "a job for their son"."""
    behind = zip(each.tokens, (*each.tokens[1:], ""), strict=True)
    return any(token == "for" and (after in each.names or after in DEFINITE) for token, after in behind)


def phrase(tokens: tuple[str, ...], verbs: frozenset[str]) -> list[str]:
    """The object after the first of the verbs, without further details: "a used car" in "looking for a used car in Leeds"."""
    place = next((place for place, token in enumerate(tokens) if token in verbs), len(tokens))
    behind = dropwhile(lambda each: each in words.RELATING, tokens[place + 1 :])
    whole = takewhile(lambda each: each not in words.RELATING | ENDS_CLAUSE | {"and", "in", "at"}, behind)
    return [meaning(each) for each in whole if is_content(each)]
