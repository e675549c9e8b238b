"""Parses an attribute's owner and value from a text."""

import re
from collections.abc import Set as AbstractSet
from itertools import dropwhile
from typing import Final

from msgspec import Struct

from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.similarity import alike
from agents.curation.rules.statements.statement import TIMES, Statement, statement

CLAUSE_ENDS: Final = re.compile(r"[,;.()]| (?:since|because|with|and|until|from|seit|weil|mit|und|depuis|desde) ")
TITLE: Final = re.compile(r"^(?:(?:Dr|Prof|Mrs|Mr|Ms|Hr|Fr|Mme|Sr|Sra)\.? )+")
ADVERBS: Final = words.words(
    "now currently recently just again already also soon always jetzt immer toujours siempre"
    " inzwischen wieder bald maintenant désormais ahora ya said gesagt here first second third"
    " current new neu neue neuer neues nouveau nouvelle nuevo nueva own"
)
WORD: Final = re.compile(r"[^\W_][\w'’.-]*", re.UNICODE)
AGE: Final = re.compile(
    r"\s*(?:now |jetzt )?(\d{1,3})(?:\s*(?:years old|jahre(?: alt)?|(?:ans|años)(?! d['’e])"
    r"|(?=[.,;!]?\s*$)|(?= (?:now|jetzt|today|on)\b))"
    r"|(?= \())",
    re.IGNORECASE,
)
DWELLINGS: Final = words.words(
    "village town city flat apartment house room studio place suburb cottage wohnung haus dorf stadt zimmer wg appartement maison"
    " ville studio piso casa pueblo"
)
WITHIN: Final = re.compile(r" (?:in|near|à|en) ")
RIDING: Final = words.words("goes gets travels commutes comes go get commute fährt kommt geht va vient")
BESIDE_MEANS: Final = words.words("by on in with the a her his their mit dem der en à au again instead zu")
TIMES_OF_BIRTH: Final = (
    TIMES.keys()
    | words.OTHER_TIMES
    | words.words(
        "early mid late frühling frühjahr sommer herbst christmas easter weihnachten ostern noël pâques navidad twenties thirties"
        " forties fifties sixties seventies eighties nineties"
    )
)
OF_SEVERAL: Final = frozenset(
    map(
        meaning,
        words.words(
            "sister brother sibling siblings son daughter child children kid kids uncle aunt cousin nephew niece friend colleague"
            " coworker neighbour neighbor roommate flatmate grandson granddaughter grandchild grandchildren grandmother"
            " grandfather grandma grandpa dog cat pet horse bird hamster"
            " schwester bruder geschwister sohn tochter kind kinder onkel tante cousine neffe nichte freund freundin kollege"
            " kollegin nachbar nachbarin enkel enkelin oma opa hund katze kater pferd"
            " sœur soeur frère fils fille enfant enfants oncle cousin cousine neveu nièce ami amie collègue voisin voisine"
            " chien chat chatte cheval"
            " hermana hermano hijo hija hijos tío tía primo prima sobrino sobrina amigo amiga compañero compañera vecino vecina"
            " nieto nieta perro perra gato gata caballo"
        ),
    )
)
OPENINGS: Final = words.words("since now that")  # "Since we moved to Oslo, ..."
HAVING: Final = frozenset(map(meaning, words.words("qui que has hat tiene")))
MOST_OF_TITLE: Final = 5  # words in which a profession is searched for


class Reading(Struct, frozen=True):
    """An attribute with its value in a statement. `owner` are the words for its owner, empty for the user. `whole`: the
    statement says nothing else. `within`: a home that may be a district of another one, as the user did not move."""

    owner: frozenset[str]
    attribute: str
    value: tuple[str, ...]
    state: bool = False
    begins: bool = False
    marked: bool = False
    whole: bool = False
    within: bool = False

    def says_as_much(self, other: "Reading") -> bool:
        """Whether both statements give the same owner's attribute the same value, and say nothing else."""
        same = self.value == other.value or self.is_spelt_otherwise(other)
        return self.whole and other.whole and (self.owner, self.attribute) == (other.owner, other.attribute) and same

    def says_the_same(self, other: "Reading") -> bool:
        """Whether both give the same owner's attribute a value, and the other one's includes this one's words."""
        mine, theirs = set(self.value), set(other.value)
        return (self.owner, self.attribute) == (other.owner, other.attribute) and theirs >= mine

    def is_spelt_otherwise(self, other: "Reading") -> bool:
        """Whether the values differ only in spelling (lasagna, lasagne). Names and numbers must be equal."""
        return self.attribute.endswith("a word") and alike("".join(self.value), "".join(other.value))

    def excludes(self, other: "Reading") -> bool:
        """Whether the two values cannot hold at the same time."""
        if (self.owner, self.attribute) != (other.owner, other.attribute) or self.value == other.value:
            return False
        if self.state:
            pair = (self.value[0], other.value[0])
            return pair not in table().compatible and pair[::-1] not in table().compatible
        if self.attribute == "age" and int(self.value[0]) < int(other.value[0]):
            return False  # a lower number is another person's age, or a length of time
        if self.within and may_be_within(self.value, other.value):
            return False
        mine, theirs = set(self.value), set(other.value)
        if mine <= theirs or theirs <= mine or self.is_spelt_otherwise(other):
            return False
        wider = [bool(set(each) & table().places) for each in (mine, theirs)]
        return wider[0] == wider[1]


def of_form(form: str, before: str, after: str) -> tuple[str, ...]:
    value = clause(after)
    if form == "means":  # means of transport, before or after: "cycles to work", "goes to work by bus"
        rode, rest = normalise(before).split(), normalise(value).split()
        going = not RIDING.isdisjoint(rode) and set(rest) <= BESIDE_MEANS | table().means | ADVERBS
        said = [each for each in (*rode, *rest) if each in table().means]
        kind = [meaning(table().same_means.get(each, each)) for each in said[:1]]
        return tuple(kind) if going or set(rest) <= ADVERBS else ()
    if form == "place":
        where = statement(value)
        named = value.strip()[:1].isupper() or not words.ARTICLES.isdisjoint(where.tokens[:1])
        other = where.times or where.quantities or table().languages & set(where.tokens)
        return content(value) if named and not other else ()
    if form == "age":
        years = AGE.match(after)
        return (years[1],) if years else ()
    if form == "profession":
        said = [each for each in normalise(value).split()[:MOST_OF_TITLE] if each in table().professions]
        return tuple(map(meaning, said[:1]))
    if form == "language":
        spoken = normalise(value).split()[:1]
        return tuple(each for each in spoken if each in table().languages)
    if form in ("name", "choice"):
        return () if normalise(value) in table().languages else leading_names(value)
    if form == "town":
        town = leading_names(value)
        return town if TIMES_OF_BIRTH.isdisjoint(town) else ()
    if form == "home":  # "in a flat in Prague"
        dwelling = not DWELLINGS.isdisjoint(normalise(value).split())
        town = leading_names(value) or (leading_names(WITHIN.split(value)[-1]) if dwelling else ())
        return tuple(table().same_place.get(each, each) for each in town)
    found = content(value)
    return found[:1] if form == "word" and found else found


def leading_names(value: str) -> tuple[str, ...]:
    """The capitalised words at the beginning, after an article; the whole text in a script without capitals."""
    found: list[str] = []
    for each in WORD.findall(value):
        if not found and each.casefold() in words.ARTICLES and not (len(each) == 1 and each.isupper()):
            continue
        if not (each[0].isupper() or each[0].isdigit() or each.lower() == each.upper()):
            break
        found.append(normalise(each))
    return tuple(found) if all(each[:1] and not each.isdigit() for each in found) else ()


def clause(after: str) -> str:
    return CLAUSE_ENDS.split(f" {TITLE.sub('', after.strip())} ", maxsplit=1)[0]


def content(value: str) -> tuple[str, ...]:
    return tuple(meaning(each) for each in normalise(value).split() if each not in words.FUNCTION_WORDS)


def owners(text: str) -> frozenset[str]:
    """The user's people and animals at the beginning of a statement; empty if it begins with the user."""
    found: list[str] = []
    for token in statement(text).tokens:
        if token in words.RELATIONS and token != "team":
            found.append(meaning(token))
        elif token in words.WAS | words.IS | words.LISTED or token not in words.GENERIC_SUBJECTS | words.FUNCTION_WORDS:
            break
    return frozenset(found)


def owner(before: str) -> frozenset[str]:
    """The words for the owner of an attribute; empty for the user."""
    said = normalise(before.replace("'s ", " ").replace("’s ", " ")).split()
    if len(said) > 2 and said[-1] in words.LISTED and any(is_of_past(each) for each in said[1:-1]):
        return owners(before)  # "User split with Ines and ...": the subject of the verb before
    empty = (words.GENERIC_SUBJECTS | words.FUNCTION_WORDS | ADVERBS | words.WISHES | words.LIKES) - words.RELATIONS
    subject = dropwhile(lambda each: each in words.GENERIC_SUBJECTS | words.ARTICLES, said)
    if said[:1] and next(subject, None) in words.LISTED and said[0] not in words.LISTED:
        return frozenset()  # "User and Pilar moved to Ghent": the user did
    return frozenset(meaning(each) for each in said if each not in empty | OPENINGS)


def may_be_within(town: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one is a large city and the other may be its district: "Camden" and "London", not "Bristol" and "London"."""
    both = {" ".join(town), " ".join(other)}
    return bool(both & table().metropolises) and not both <= table().metropolises | table().cities


def may_be_several(whose: AbstractSet[str]) -> bool:
    """Whether the owner is a relation or a pet that the user may have several of, and is not named: "son", not "son Max"."""
    return not whose.isdisjoint(OF_SEVERAL) and whose <= OF_SEVERAL | HAVING


def is_of_somebody(each: Statement) -> bool:
    """Whether the statement begins with such a person or animal: "User's son is 8", not "User's son Max is 8"."""
    empty = (words.GENERIC_SUBJECTS | words.ARTICLES | {"de", "del", "des"}) - words.RELATIONS
    said = [token for token in each.tokens if token not in empty]
    if len(said) < 2 or said[1] in each.names:
        return False
    dated = any(time.startswith("month ") for time in each.times)  # a birthday
    is_state = said[1] in words.IS | words.COPULAS or said[1].isdigit() or dated
    return is_state and meaning(said[0]) in OF_SEVERAL


def is_of_past(word: str) -> bool:
    return word.endswith("ed") or word in table().past


def says_no_more(said: Statement, known: AbstractSet[str]) -> bool:
    empty = known | {meaning(each) for each in (*known, *ADVERBS, *words.GENERIC_SUBJECTS)}
    return set(said.content) <= empty and said.quantities <= known and not said.times
