"""The words with which a statement names a thing, a plan or a contract, without times."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from msgspec import Struct

from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.statement import TIMES, Statement, statement

MAX_NAMED: Final = 4  # content words of a replaced thing
ORDINALS: Final = words.words("st nd rd th")
WHEN: Final = frozenset(words.OTHER_TIMES | ORDINALS | TIMES.keys())
CONTRACTS: Final = words.words(
    "subscription subscribed subscribes subscriber membership member insurance contract account abo abonnement mitglied"
    " vertrag konto contrat compte suscripción contrato cuenta"
)
POSSESSION: Final = words.words(
    "owns own has have drives runs run keeps bought got rents rides loan mortgage besitzt hat fährt gekauft possède conduit"
    " acheté tiene conduce compró"
)


class Named(Struct, frozen=True):
    """A named thing: its content words and times, the verb that ends it, and whether it is the user's or `definite`."""

    words: frozenset[str]
    times: frozenset[str]
    verb: str = ""
    definite: bool = False


def affirms(each: Statement) -> bool:
    return each.negated is None and not each.ended and not each.denied and (each.wish or not each.preference)


def named_by(texts: Iterable[str]) -> tuple[Named, ...]:
    found = [
        Named(frozenset(core(said)), said.times)
        for said in map(statement, texts)
        if not (said.scope or said.preference)
    ]
    return tuple(each for each in found if 0 < len(each.words) <= MAX_NAMED)


def is_planned(each: Statement) -> bool:
    return not (table().planned | words.WISHES).isdisjoint(each.tokens)


def subject_of(each: Statement) -> set[str]:
    """The relations and names at the beginning of a statement."""
    found = set[str]()
    for token in each.tokens:
        if token in words.RELATIONS or token in each.names:
            found.add(meaning(token))
        elif token not in words.GENERIC_SUBJECTS | words.ARTICLES:
            break
    return found


@cache
def holding() -> frozenset[str]:
    return stems(table().holding | words.LIGHT)


def core(each: Statement) -> set[str]:
    """The statement's content words without times."""
    return set(each.content) - stems(WHEN)
