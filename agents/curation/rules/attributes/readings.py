"""Finds the attributes in a statement, with owner and value."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

import msgspec

from agents.curation.rules.attributes.attribute_values import (
    Reading,
    clause,
    content,
    is_of_past,
    is_of_somebody,
    may_be_several,
    of_form,
    owner,
    owners,
    says_no_more,
)
from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.noun_readings import noun_frames
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import is_closed, is_month, is_occasional, is_recurrent
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import UNSPACED, Statement, statement
from agents.models.offline.rules.findings.places import is_product

WORKPLACE: Final = re.compile(r"(?<=\w) (?:at|bei|chez) (?=[A-Z])")
AGAIN: Final = re.compile(r" (?:de nouveau|à nouveau|de nuevo|otra vez)(?= )")
NO_LONGER: Final = re.compile(r" (?:no longer|nicht mehr|ya no)(?= )", re.IGNORECASE)
AGENTS: Final = ("ist", "ician", "man", "woman", "arian")
NO_AGENTS: Final = words.words("ist list first mist twist human german roman woman man assist exist resist")
ELSEWHERE: Final = re.compile(r" (?:in|as|als) ")
CUSTOMERS: Final = words.words("versichert kunde kundin mitglied")
OPEN_ENDED: Final = ("working hours", "dwelling")  # attributes whose phrases hold with any continuation
FOR_SOMEBODY: Final = re.compile(r" for (?:[A-Z]|their |his |her )")
TITLE: Final = re.compile(
    r" as (?:an? |the |head |lead )(?:[\w-]+ ){0,2}?(?!treasurer|singer|drummer|player|volunteer|member|volunteer|speaker|visitor"
    r"|partner|customer|striker|goalkeeper|founder|helper)\w+(?:er|or|ist|ian|man|ant)\b"
)
NEAR: Final = re.compile(r" near ")
FOR_A_WHILE: Final = re.compile(r" for (?:an? |the |some |two |three |\d)(?!(?:new |better )?(?:job|position))")
BESIDES: Final = words.words("part side volunteer volunteers online pseudonym keen avid passionate hobby amateur")
ONE_OF_MANY: Final = ("employer", "profession", "name", "superior", "car")
MAY_BE_SECONDARY: Final = ("employer", "car", "bank", "insurer", "payment", "place of study", "floor")
LIVES: Final = words.words("lives live living resides wohnt lebt habite vit vive reside")
RENAMED: Final = words.words("renamed relocated relocating emigrated turned umbenannt rebaptisé trasladado")
FOR_ANOTHER: Final = re.compile(
    r" (?:(?:for|für|pour|para)(?! (?:\d|an? (?:new |better )?(?:job|position)|(?:two|three|four|five|several|many|the last|zwei"
    r"|drei) ))|during|against|gegen|contre|contra|während|pendant|durante|bénévolement"
    r"|ehrenamtlich|as a volunteer|como voluntari[oa]) ?"
)
ON_A_TASK: Final = re.compile(r" (?:on|an) (?:the|an?|their|his|her|der|dem|einer|einem) ")
AT_A_SHOP: Final = re.compile(r" (?:at|in|on|abroad|online|beim?|im|auf|chez|au|aux|en|sur) ")
STOREY: Final = re.compile(r"\b(?:floor|storey|story|level)\b")
INDOORS: Final = re.compile(r"^\s*(?:the|der|dem|einem|einer|la|el|una?|le|une?) ")
NO_EMPLOYERS: Final = words.words(
    "kunden klienten kundinnen patienten regen schnee hitze kälte freunden freunde bekannten homeoffice java python javascript"
    " typescript rust kotlin php ruby excel"
)
HOLIDAYS: Final = words.words("weihnachten ostern pfingsten silvester neujahr feierabend")
PETS: Final = words.words("dog cat hund katze chien chat perro gato")
TOWARDS: Final = words.words("to from mit von with")
AT_WORK: Final = words.words("at from by bei von chez")
SPANS: Final = words.words("now years months weeks ages")
NAMELY: Final = words.words("called named since for namens seit depuis desde")
OPEN: Final = words.words("at for with a an as dating bei chez en mit avec con freelance")
WEDDINGS: Final = words.words("got geheiratet marié mariée casó")
ON_A_DAY: Final = words.words("on last this yesterday today am letzte letzten le el ayer hier")
SOMEBODY: Final = words.words("someone somebody again parents flatmate flatmates roommates flatmate housemate")
PUPILS: Final = words.words("student pupil studentin étudiant étudiante estudiante")


@lru_cache(maxsize=1_024)
def readings(text: str) -> tuple[Reading, ...]:
    """Every attribute in a statement. Wishes, denials and ended states give none, except for phrases that are themselves
    states."""
    said = statement(text)
    plain = said.negated is None and not said.ended and not said.denied and "maybe" not in said.scope
    found = list(states(text, plain))
    if plain:
        found += [*singles(text, said), *noun_frames(text)]
    return tuple(of_several(found, said))


def of_several(found: Iterable[Reading], said: Statement) -> Iterable[Reading]:
    """Marks attributes of one of several people ("User's son"): the next statement may be about another one. A statement that
    reports a change is not marked."""
    if not (table().switched | RENAMED).isdisjoint(said.tokens):
        return found
    several = is_of_somebody(said)
    return [
        msgspec.structs.replace(each, marked=True) if may_be_several(each.owner) or (each.owner and several) else each
        for each in found
    ]


def is_marked(text: str) -> bool:
    """Whether the statement says "now", "from now on" or the like."""
    normalised = f" {normalise(text)} "
    return any(f" {marker} " in normalised for marker in table().markers)


def states(text: str, plain: bool) -> list[Reading]:
    """The states in a statement. The longest phrase of each attribute wins: "never eats meat" contains "eats meat"."""
    normalised, found = f" {AGAIN.sub('', normalise(text))} ", []
    for attribute in table().states:
        for phrase, value in state_phrases(attribute):
            if f" {phrase} " not in normalised:
                continue
            before, _, rest = normalised.partition(f" {phrase} ")
            if not is_whole(text, attribute, phrase, rest.split()):
                break
            if plain or not words.NEGATIONS.isdisjoint(phrase.split()) or ends(phrase):
                found.append(Reading(owner(before), attribute, (value,), state=True))
                break
    return found


@cache
def state_phrases(attribute: str) -> tuple[tuple[str, str], ...]:
    """The phrases of an attribute with their values, the longest first."""
    phrases = [(phrase, value) for value, listed in table().states[attribute].items() for phrase in listed]
    return tuple(sorted(phrases, key=lambda each: -len(each[0])))


def is_whole(text: str, attribute: str, phrase: str, rest: list[str]) -> bool:
    """Whether the phrase is not part of a longer one, and always holds: "stopped drinking", not "stopped drinking soda";
    "works at Kone", not "works at weekends"."""
    said = statement(text)
    if is_wedding(attribute, phrase) and is_on_a_day(rest):
        return True
    if is_occasional(said):
        return False
    if phrase.split()[-1] in OPEN:  # a person or thing must follow
        follows = rest[0] if rest else ""
        whom = {*rest[:2]} & ((words.RELATIONS - PETS) | SOMEBODY)
        return (
            follows in said.names
            or bool(whom)
            or not table().professions.isdisjoint(rest[:3])
            or (phrase.endswith("freelance") and is_closed(text, phrase, rest))
            or (phrase.endswith("dating") and follows in said.names)
        )
    if is_closed(text, phrase, rest) or attribute in OPEN_ENDED:
        return True
    if (
        rest[0] in said.names
        or rest[0] in NAMELY
        or (attribute == "marriage" and rest[0] == "in" and is_month(rest[1] if rest[1:] else ""))
    ):
        return rest[0] != "for" or not SPANS.isdisjoint(rest[1:4])
    beside = TOWARDS if attribute in ("marriage", "partnership") else AT_WORK if attribute == "work" else frozenset()
    return rest[0] in beside and (rest[1:2] or [""])[0] in {*said.names, *words.RELATIONS, "their"}


def is_wedding(attribute: str, phrase: str) -> bool:
    """Whether the phrase is an event that changes a marriage, which has a day: "got married on Saturday"."""
    return attribute == "marriage" and not WEDDINGS.isdisjoint(phrase.split())


def is_on_a_day(rest: list[str]) -> bool:
    """Whether a day follows: "on Saturday", not "on a beach"."""
    return not ON_A_DAY.isdisjoint(rest[:1]) and words.ARTICLES.isdisjoint(rest[1:2])


@lru_cache(maxsize=1_024)
def denied_readings(text: str) -> tuple[Reading, ...]:
    """The attributes whose end the statement reports, as if they held: "is vegan" for "is no longer vegan"."""
    without = NO_LONGER.sub(" ", text, count=1)
    return () if without == text else readings(without)


def ends(phrase: str) -> bool:
    return not words.ENDINGS.isdisjoint(phrase.split()) or any(each in phrase for each in words.ENDING_PHRASES)


def singles(text: str, said: Statement) -> list[Reading]:
    found = []
    for name, attribute in table().single.items():
        match = pattern(name).search(text) or (
            WORKPLACE.search(text) if name == "employer" and is_profession(text) else None
        )
        if match is None or (said.wish and attribute.of in ("name", "home", "word", "means")):
            continue
        before, after = text[: match.start()], text[match.end() :]
        value = of_form(attribute.of, before, after)
        passing = attribute.of in ("means", "place") and (is_occasional(said) or is_past(said))
        passing |= attribute.of == "means" and said.preference
        passing |= name in ONE_OF_MANY and is_one_of_many(said, match.group(), after)
        passing |= name in MAY_BE_SECONDARY and is_secondary(name, said, match.group(), after)
        passing |= attribute.of == "home" and is_passing_home(said, match.group(), after)
        chosen = attribute.of != "choice" or set(content(after)) > set(map(meaning, value))
        if value and chosen and not passing and not (attribute.of == "place" and is_of_a_person(before)):
            whose = owner(before) if attribute.of != "means" else owners(text) | set(filter(None, [said.subject]))
            whole = says_no_more(said, {*value, *whose, *content(match.group())})
            if attribute.of == "choice":  # the purpose
                name = " ".join((name, *sorted(set(content(after)) - set(map(meaning, value)))))
            lives = attribute.of == "home" and not LIVES.isdisjoint(match.group().split()) and not is_marked(text)
            found.append(
                Reading(whose, name, value, begins=attribute.begins, marked=attribute.marked, whole=whole, within=lives)
            )
    return found


def is_one_of_many(said: Statement, phrase: str, after: str) -> bool:
    """Whether it is one of several jobs, names or superiors: "works at Aldi on Saturdays", "goes by Tommy online"."""
    beside = (
        not (table().also | BESIDES).isdisjoint(said.tokens)
        or " on a " in after
        or " on the side" in after
        or ("called" in phrase and " by " in after)
    )
    beside |= phrase.endswith(" with") and ELSEWHERE.search(after) is None  # "works with customers"
    beside |= " job at" in phrase and FOR_SOMEBODY.search(after) is not None
    beside |= phrase.endswith(" bei") and not CUSTOMERS.isdisjoint(said.tokens)
    joined = phrase.strip().startswith(("join", "started at", "starts at")) and not is_profession(f"{phrase} {after}")
    joined = joined and TITLE.search(after) is None
    return beside or is_recurrent(said) or (joined and (" as " in after or " in the " in after))


def is_secondary(name: str, said: Statement, phrase: str, after: str) -> bool:
    """Whether the value is for one purpose, place or time among others: "insured with HUK for the car", "drives a bus for the
    city", "pays in cash at the market"."""
    of_one = FOR_ANOTHER.search(after) is not None or is_recurrent(said)
    of_one |= not (table().also - words.words("second third")).isdisjoint(said.tokens)
    if name == "employer":
        of_one |= ON_A_TASK.search(after) is not None or not NO_EMPLOYERS.isdisjoint(normalise(after).split()[:1])
    if name == "payment":
        of_one |= AT_A_SHOP.search(after) is not None
    if name == "floor":
        of_one |= STOREY.search(after) is None
    if name == "place of study":
        of_one |= phrase.endswith(" in") and INDOORS.search(after) is not None
    return of_one


def is_passing_home(said: Statement, phrase: str, after: str) -> bool:
    """Whether the home is temporary, or only described as near a place. Two homes near places differ only if the user moved."""
    moved = not (table().switched | RENAMED).isdisjoint(phrase.split())
    rented = ("rents" in phrase or "based" in phrase) and " for " in after
    named = next((each for each in clause(after).split() if each.casefold() not in words.ARTICLES), "")
    where = normalise(clause(after)).split()[:1]
    product = is_product(named) or not HOLIDAYS.isdisjoint(where)
    product |= bool(where) and where[0][0].isdigit()
    near = NEAR.search(f" {clause(after)}") is not None and not moved
    passing = is_recurrent(said) or (is_occasional(said) and not moved)
    return passing or product or rented or near or FOR_A_WHILE.search(after) is not None


def is_past(said: Statement) -> bool:
    return any(is_of_past(each) for each in said.tokens[1:3])


def is_profession(text: str) -> bool:
    """Whether the text names a profession: "is a chemist at", not "is a guest at"."""
    said = normalise(text).split()
    named = not table().professions.isdisjoint(said) or any(
        each.endswith(AGENTS) for each in said if each not in NO_AGENTS
    )
    return named and not PUPILS & set(said)


def is_of_a_person(before: str) -> bool:
    """Whether the owner is a person, who is in several places in turn. A thing or an event begins with an article, or is the
    user's."""
    said = normalise(before).split()
    thing = said[:1] != said[-1:] and (said[0] in words.ARTICLES or said[0] in words.GENERIC_SUBJECTS)
    return not thing or not words.RELATIONS.isdisjoint(said)


@cache
def pattern(attribute: str) -> re.Pattern[str]:
    """The phrases of an attribute as a pattern, the longest first."""
    phrases = sorted(table().single[attribute].said_as, key=lambda each: -len(each))
    joined = "|".join(bounded(phrase) for phrase in phrases)
    return re.compile(joined, re.IGNORECASE)


def bounded(phrase: str) -> str:
    """The phrase as whole words, in scripts with spaces. "…" stands for some words; the words after "+" must follow later."""
    if UNSPACED.search(phrase):
        return re.escape(phrase)
    phrase, _, later = phrase.partition(" + ")
    if later:
        return rf"{bounded(phrase)}(?=.*(?<![\w-]){re.escape(later)}\b)"
    if "…" in phrase:
        return r"(?: \S+){0,5}? ".join(bounded(part) for part in phrase.split(" … "))
    return rf"(?<=\W){re.escape(phrase)}(?=\W|$)".replace(
        r"\ ", "(?: now| currently| still| jetzt| maintenant| ahora| ya)? "
    )
