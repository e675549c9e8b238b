"""Finds the value of an attribute, and leaves out other remarks about it: "rent is 900 euros", not "rent is due on the 3rd"."""

import re
from typing import Final

from agents.curation.rules.attributes.attribute_values import ADVERBS, TITLE, WORD, clause, content
from agents.curation.rules.attributes.attributes import alternatives, table
from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import TIMES, number, statement

EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
TITLED: Final = re.compile(r"(?:Dr|Prof|Mrs|Mr|Ms|Herrn?|Frau|Hr|Fr|Mme|Madame|Monsieur|M|Sra?|Señora?)\b\.? ")
ENDS: Final = re.compile(r"[,;()]|\. | (?:since|because|until|from|seit|weil|depuis|desde) ")
BESIDES: Final = words.words(
    "second zweite zweiter zweites deuxième seconde segundo segunda other andere autre otro otra"
)
FOR_MORE: Final = words.words("for at on für bei pour chez sur para")
AND_MORE: Final = words.words("with and or in mit und oder im avec et ou dans con y o en")
FREE: Final = ("favo", "preferred", "lieblings")  # their values are of any kind
PERSONS: Final = words.words(
    "manager boss supervisor landlord landlady chef chefin patron jefe jefa hausarzt vermieter vermieterin zahnarzt"
    " zahnärztin dentist doctor therapist coach trainer anwalt lawyer accountant dentiste médecin dentista médico"
)
SIGNS: Final = words.words("€ $ £ % euro dollars franken us")
ABOUT: Final = words.words(
    "about around roughly up to almost exactly of etwa rund ca circa bis zu environ unos alrededor de del the a an der"
    " die das le la el per pro par por al st nd rd th"
)
UNITS: Final = words.words(
    "kg kilos g lb lbs pounds stone cm m metres meters ft feet inches month monat mois mes monthly monatlich year jahr an"
    " année año yearly annually jährlich week woche semaine semana weekly net netto gross brutto brut bruto kalt warm am pm uhr"
)
MONTHLY: Final = words.words("rent miete loyer alquiler")
PER_MONTH: Final = words.words("month monat mois mes monthly monatlich")
PLACED: Final = words.words("address plate iban code kennzeichen")
ENDED: Final = re.compile(
    r"\b(?:until|till|while|during|bis|während|jusqu|pendant|hasta|durante|from .* (?:to|until))\b"
)
OPINIONS: Final = words.words(
    "good bad great nice fine lovely boring expensive cheap delicious ready cold hot healthy unhealthy hard easy difficult"
    " gone unknown popular simple gut schlecht teuer lecker gesund bon mauvais cher bueno malo caro rico"
)
LEAST_OF_PHONE: Final = 5  # digits
MAKERS: Final = ("er", "erin", "ist", "istin", "ant", "antin")  # endings of German nouns for persons
GIVEN: Final = words.words(
    "peter walter werner günter günther dieter rainer reiner alexander oliver xaver heiner holger"
)
DIETS: Final = words.words(
    "vegan vegetarian pescatarian omnivorous carnivorous vegetarisch végétarien végétalien vegetariano vegano pescetarian"
)
SUBJECTS: Final = words.words(
    "maths mathematics math physics chemistry biology history law medicine economics business psychology philosophy"
    " sociology linguistics literature english geography geology statistics engineering informatics architecture art music"
    " nursing politics journalism education pharmacy astronomy marketing finance accounting theology anthropology"
)


def value_of(kind: str, value: str) -> tuple[str, tuple[str, ...]]:
    """The form of a value and its words; no words if it is none, or holds only for a purpose, place or time."""
    free = kind.startswith(FREE)
    main = ENDS.split(TITLE.sub("", EMAIL.sub("@", value.strip())), maxsplit=1)[0]
    said = [each for each in normalise(main).split() if each not in ADVERBS]
    if is_qualified(said, main, free=free) or ENDED.search(value) or (free and not OPINIONS.isdisjoint(said)):
        return "word", ()
    if kind.startswith("email"):
        return "name", tuple(each.casefold() for each in EMAIL.findall(value))
    if statement(main).quantities:
        return numbers_of(kind, main, said)
    names = [each for each in WORD.findall(main) if each.lower() != each and len(each) > 1]
    if names:
        titled = TITLED.match(value.strip()) is not None
        fits = free or is_named(kind, said, [normalise(each) for each in names], titled=titled)
        return "name", tuple(meaning(normalise(each)) for each in names) if fits else ()
    return "word", content(clause(value)) if free or fits_kind(kind, said) else ()


def is_qualified(said: list[str], main: str, *, free: bool) -> bool:
    """Whether the value is one of several: "for newsletters", "at the bakery". A town may follow "in"."""
    if not FOR_MORE.isdisjoint(said) or not (table().also | BESIDES).isdisjoint(normalise(main).split()):
        return True
    within = re.search(r" (?:in|en|à) (?=[^\W\da-zß-öø-ÿ])", main) is not None
    return not free and not within and not AND_MORE.isdisjoint(said)


def numbers_of(kind: str, main: str, said: list[str]) -> tuple[str, tuple[str, ...]]:
    """The numbers with their units. Another word makes it no value: "3 weeks late"."""
    currencies = SIGNS | {each for each in alternatives() if "eur" in alternatives()[each] or each == "eur"}
    said = [part for each in said for part in re.findall(r"[€$£%]|[^€$£%]+", each)]
    rest = [each for each in said if number(each) is None and not each[0].isdigit()]
    placed = not PLACED.isdisjoint(kind.split())
    named = {normalise(each) for each in WORD.findall(main) if each.lower() != each} if placed else set()
    known = currencies | ABOUT | UNITS | TIMES.keys() | named
    if not kind.startswith(FREE) and not known.issuperset(rest):
        return "number", ()
    found = tuple(sorted(statement(main).quantities))
    if kind.startswith("phone") and sum(each.isdigit() for each in main) < LEAST_OF_PHONE:
        return "number", ()
    monthly = PER_MONTH if not MONTHLY.isdisjoint(kind.split()) else frozenset[str]()
    units = sorted((UNITS - monthly - currencies - ABOUT).intersection(rest) - named)
    return " ".join(("number", *units)), found


def is_named(kind: str, said: list[str], names: list[str], *, titled: bool) -> bool:
    """Whether capitalised words are the name of a holder: "Tom", "Mrs Baker", not "Swiss" or "Arzt"."""
    origins = table().nationalities | table().languages
    if kind.startswith(("nationality", "native", "mother")):
        return origins.issuperset(said)
    if not origins.isdisjoint(names):
        return False
    return PERSONS.isdisjoint(kind.split()[:1]) or is_person(said, names, titled=titled)


def is_person(said: list[str], names: list[str], *, titled: bool) -> bool:
    """Whether the words are a person's name and nothing more."""
    if titled:
        return set(said) <= set(names)
    general = names[0] in table().professions | table().nationalities | table().languages | words.RELATIONS
    made = names[0].endswith(MAKERS) and names[0] not in GIVEN
    return set(said) <= set(names) and (len(names) > 1 or not (general or made))


def may_be_a_noun(noun: str, value: str, text: str) -> bool:
    """Whether a single German word may be a noun instead of a name: "Der Chef ist Single"."""
    single = len(ENDS.split(value)[0].strip(" .").split()) - len(set(normalise(value).split()) & ADVERBS) == 1
    return " ist " in text and noun in PERSONS and single


def fits_kind(kind: str, said: list[str]) -> bool:
    """Whether uncapitalised words are values of the attribute: "vegan" is a diet, "going well" is none."""
    vocabulary = {
        "diet": DIETS,
        "major": SUBJECTS,
        "nationality": table().nationalities | table().languages,
        "native language": table().languages,
        "mother tongue": table().languages,
        "deadline": frozenset(TIMES) | words.OTHER_TIMES,
        "job": table().professions,
        "profession": table().professions,
        "occupation": table().professions,
    }
    plain = [each for each in said if each not in words.ARTICLES]
    return bool(plain) and vocabulary.get(kind, frozenset[str]()).issuperset(plain)
