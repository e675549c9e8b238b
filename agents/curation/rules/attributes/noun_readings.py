"""Attributes of the form "User's <noun> is <value>"."""

import re
from functools import cache
from itertools import takewhile
from typing import Final

from agents.curation.rules.attributes.attribute_values import (
    ADVERBS,
    WORD,
    Reading,
    clause,
    content,
    owner,
    says_no_more,
)
from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import CONTRACTS
from agents.curation.rules.attributes.noun_values import (
    BESIDES,
    FOR_MORE,
    PERSONS,
    TITLED,
    is_person,
    may_be_a_noun,
    value_of,
)
from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import TIMES, statement

OWN: Final = (
    re.compile(
        r"(?P<whose>User|The [\w-]+|[A-Z]\w+)['’]s (?P<noun>[a-z][\w' -]{1,40}?) "
        r"(?:is(?: now| currently)?|(?:was|has been) (?:changed|moved|switched|renamed|set) to|changed to) (?P<value>.+)"
    ),
    re.compile(
        r"(?:Der|Die|Das) (?P<noun>[\w-]+) (?:des Nutzers|der Nutzerin|des Benutzers) (?:ist|heißt)(?: jetzt| nun| inzwischen)?"
        r" (?P<value>(?!eine? |einen ).+)"
    ),
    re.compile(
        r"(?:Le |La |L['’])(?P<noun>[\w' -]{2,40}?) de l['’]utilisat(?:eur|rice) est(?: maintenant| désormais)? (?P<value>.+)"
    ),
    re.compile(r"(?:El|La) (?P<noun>[\w -]{2,40}?) (?:del usuario|de la usuaria) es(?: ahora)? (?P<value>.+)"),
)
COLOURS: Final = words.words(
    "white black red blue green yellow grey gray brown pink orange purple turquoise beige weiss rot blau grün gelb"
)
CLAUSE_OF_VALUE: Final = re.compile(r"[,;()]| (?:since|because|seit|weil|depuis|desde) ")
NEAR_TO: Final = re.compile(r"(?:next to|near|beside|at|by|behind|under|opposite) the ")
WITH: Final = re.compile(r"^(?:with|at|bei|beim|chez|con) (?=(?:the |der |die )?[A-Z])")
MOST_OF_UNIT: Final = 2  # words behind a number
PASSING: Final = words.words("week today tonight moment")
JOBS: Final = words.words("job profession occupation")
WHERE: Final = words.words("in at on from with near by im am bei aus mit à au chez en avec dans con")
NUMBERS: Final = words.words("number nummer numéro número mobile mail")
OWNED: Final = re.compile(r"(?:['’]s?|[:,]) *$")
POSSESSIVES: Final = words.words("my his her their our")
OTHERS: Final = words.words("other another second third old former previous next last one first")


def noun_frames(text: str) -> list[Reading]:
    """Attributes of the form "User's <noun> is <value>". Values are compared if both are names, both have numbers, or
    neither."""
    match = noun_pattern().match(text)
    if match is None:
        return own_frames(text)
    if not WHERE.isdisjoint(match["value"].casefold().split()[:1]):  # "boss is in Berlin" gives a place, not a name
        return own_frames(text)
    before = normalise(f"{match['owner']} {match['noun']} {match['rest']}").split()
    if not (BESIDES | PASSING).isdisjoint((*before, *statement(clause(match["value"])).tokens)):
        return []
    noun = kind_of_number(match["owner"], match["noun"].casefold())
    kind = " ".join(normalise(f"{table().same_noun.get(noun, noun)} {match['rest']}").split())
    form, found = value_of(kind, match["value"])
    if noun in JOBS and form == "word" and table().professions.isdisjoint(normalise(match["value"]).split()):
        return []
    if not form.startswith("name") and noun in table().named:
        return []
    whose = owner(after_a_clause(match["owner"]))
    whole = says_no_more(statement(text), {*found, *whose, *content(f"{match['noun']} {match['rest']}")})
    marked = may_be_a_noun(match["noun"].casefold(), match["value"], text)
    return [Reading(whose, f"{kind}, a {form}", found, whole=whole, marked=marked)] if found else []


def kind_of_number(before: str, noun: str) -> str:
    """The noun with the one before it: a "customer number" is no phone number."""
    said = normalise(before).split()
    own = not said or OWNED.search(before) or said[-1] in ADVERBS | words.ARTICLES | POSSESSIVES
    return noun if own or noun not in NUMBERS else f"{said[-1]} {noun}"


def after_a_clause(before: str) -> str:
    """The owner after a clause about the user: "User switched carriers, new number". Not if the clause names another person."""
    clause_before, _, last = before.rpartition(", ")
    return before if not clause_before or statement(clause_before).relations else last


def own_frames(text: str) -> list[Reading]:
    """Attributes of the form "User's go-to editor is <Name>": one value at a time, if it is a name."""
    match = next((found for each in OWN if (found := each.match(text))), None)
    if match is None:
        return []
    said, value_text = normalise(match["noun"]).split(), match["value"]
    if not CONTRACTS.isdisjoint(said):
        value_text = WITH.sub("", value_text)
    if (one := word_frame(match, value_text)) is not None:
        return [one]
    noun, article, value = [each for each in said if each not in ADVERBS], *identified(clause(value_text))
    if is_one_of_several(value_text) or not is_holder(noun, value, match["value"]):
        return []
    if not value or not noun or noun[-1] in table().several | words.RELATIONS or not OTHERS.isdisjoint(noun):
        return []
    unit = value[1:] if value[0][:1].isdigit() else ()
    kind = f"{' '.join(noun)}, a {' '.join((article or 'name', *unit))}"
    whose = owner(f"{match.groupdict().get('whose') or ''} {match['noun']}")
    marked = (bool(article) and said == noun) or may_be_a_noun(noun[-1], match["value"], text)
    return [Reading(whose, kind, value, marked=marked)]


def is_one_of_several(value: str) -> bool:
    """Whether the value holds for a purpose or place only: "Dr. Weiss for implants"."""
    return not (FOR_MORE | table().also).isdisjoint(normalise(CLAUSE_OF_VALUE.split(value)[0]).split())


def is_holder(noun: list[str], value: tuple[str, ...], value_text: str) -> bool:
    """Whether a noun for a person is followed by a name, not by a profession as in "Der Vermieter ist Arzt"."""
    if not value or PERSONS.isdisjoint(noun[-1:]):
        return True
    return is_person(list(value), list(value), titled=TITLED.match(value_text) is not None)


def word_frame(match: re.Match[str], value: str) -> Reading | None:
    """Attributes of the form "User's kitchen is white now": a colour or a place, if the statement says "now"."""
    said = [each for each in normalise(value).split() if each not in ADVERBS]
    noun = [each for each in normalise(match["noun"]).split() if each not in ADVERBS]
    if not noun or noun[-1] in table().several | words.RELATIONS:
        return None
    whose = owner(f"{match.groupdict().get('whose') or ''} {match['noun']}")
    if said[:1] and said[0] in COLOURS and len(said) == 1:
        return Reading(whose, f"{' '.join(noun)}, a colour", (meaning(said[0]),), marked=True)
    where = NEAR_TO.match(value)
    return (
        Reading(whose, f"{' '.join(noun)}, a place", content(value), marked=True) if where and content(value) else None
    )


def identified(value: str) -> tuple[str, tuple[str, ...]]:
    """The name or number after an indefinite article. "French" and "German" are no names."""
    first, _, rest = value.strip().partition(" ")
    article = "kind" if first in table().indefinite else ""
    said = rest if first in words.ARTICLES | table().indefinite else value.strip()
    if said[:1].isdigit():
        number, *unit = normalise(said).split()
        return article, (number, *unit) if len(unit) <= MOST_OF_UNIT else ()
    names = tuple(normalise(each) for each in takewhile(is_of_a_name, WORD.findall(said)))
    return article, () if set(names) & (TIMES.keys() | table().languages | table().nationalities) else names


def is_of_a_name(word: str) -> bool:
    """Whether a word is part of a name: "Ida", "FritzBox", "iPhone", and a number after them."""
    return word[0].isdigit() or word.lower() != word


@cache
def noun_pattern() -> re.Pattern[str]:
    nouns = "|".join(re.escape(noun) for noun in sorted((*table().nouns, *table().named), key=lambda each: -len(each)))
    return re.compile(
        rf"(?P<owner>.*?)\b(?P<noun>{nouns})(?P<rest>(?: ?[\w'’]+){{0,3}}?)"
        r"(?: (?:is|are|ist|est|es)(?: now| currently)?|:) (?P<value>.+)",
        re.IGNORECASE,
    )
