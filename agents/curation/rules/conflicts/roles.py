"""Recognises a new holder of a role that has one holder at a time: a new dentist, another bank."""

import re
from typing import Final

from agents.curation.rules.attributes.attribute_values import ADVERBS, WORD
from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import is_planned
from agents.curation.rules.conflicts.denials import words_of_past
from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import TIMES, Statement

USER: Final = (
    r"(?:(?:the )?user|(?:der |die )?nutzer(?:in)?|(?:der |die )?benutzer(?:in)?|l['’]utilisat(?:eur|rice)"
    r"|(?:el )?usuario|(?:la )?usuaria)"
)
OF_USER: Final = r"(?:des nutzers|der nutzerin|des benutzers|de l['’]utilisat(?:eur|rice)|del usuario|de la usuaria)"
ARTICLE: Final = r"(?:a|an|the|eine?n?|d(?:er|ie|as|en)|une?|le|la|el|una?)"
LATELY: Final = r"(?:now|just|recently|finally|already|jetzt|nun|inzwischen|maintenant|désormais|récemment|ahora|ya)"
NEW: Final = r"(?:new|neue[nrs]?|nouve(?:au|l|lle)|nuev[oa])"
ROLE: Final = r"(?P<role>[^\W\d]+)"
HAS: Final = "has|has got|got|hat|a|tiene"
ONCE: Final = re.compile(
    r" (?:got|bought|acheté|compró|comprado|gekauft|switched|changed|wechselte|cambió) ", re.IGNORECASE
)
BUYS: Final = "bought|has bought|a acheté|compró|ha comprado"
CHANGED: Final = "changed|has changed|switched|has switched|a changé de|ha cambiado de|cambió de"
TURNED_TO: Final = (
    "(?:has )?(?:switched|upgraded|changed) to|goes to|is with|geht (?:zu|in)|wechselte zu"
    "|va (?:chez|à)|est passée? (?:chez|à)|va al?|se cambió a"
)
TAKES: Final = re.compile(
    rf"{USER} (?:{LATELY} )?(?:(?P<buys>{BUYS})|{HAS}|{TURNED_TO}) (?:{LATELY} )?(?:{ARTICLE} )?{NEW} {ROLE}(?P<rest>.*)",
    re.IGNORECASE,
)
CHANGES: Final = re.compile(
    rf"{USER} (?:{LATELY} )?(?:{CHANGED}) {ROLE}(?: to| and (?:now )?(?:sees|uses|goes to|is with))?(?P<rest>.*)"
    rf"|{USER} hat (?:{LATELY} )?(?:{ARTICLE} )?{ROLE.replace('role', 'role_of')} gewechselt\W*",
    re.IGNORECASE,
)
OWN: Final = re.compile(
    rf"(?:(?:the )?user['’]s {NEW} {ROLE}|(?:{ARTICLE} |l['’]){NEW} {ROLE.replace('role', 'role_of')} {OF_USER})"
    rf" (?:is|heißt|ist|est|es|s'appelle|se llama)(?P<rest> .+)",
    re.IGNORECASE,
)
HELD: Final = re.compile(
    rf"(?:(?:the )?user['’]s (?P<role>[^\W\d]+(?: [^\W\d]+)?)|(?:{ARTICLE} |l['’])(?P<role_of>[^\W\d]+) {OF_USER})"
    r" (?:is|ist|heißt|est|es|s['’]appelle|se llama)(?P<rest> .+)",
    re.IGNORECASE,
)
HELD_AS: Final = re.compile(
    rf"{USER} (?:{HAS}|uses|drives|nutzt|utilise|usa) (?P<rest>.+) (?:as|als|comme|como) (?:(?:a|an|their|the) )?{ROLE}\W*",
    re.IGNORECASE,
)
BOUGHT: Final = words.words(
    "phone laptop router car flat apartment bike scooter sofa monitor keyboard printer tv fridge handy auto wohnung"
    " voiture téléphone coche móvil"
)
ENDS: Final = re.compile(r"\b(?:since|near|because|as of|seit|weil|depuis|parce|desde|porque)\b", re.IGNORECASE)
TITLES: Final = words.words("dr prof mr mrs ms herr frau mme sr sra")
NAMELY: Final = TITLES | words.words(
    "called named namens nommé nommée llamado llamada now a an the der die das"
    " ein eine einen un une le la el una gekauft bekommen"
)
LATE: Final = words.words("yesterday gestern hier ayer recently last this week month year")
ANOTHER: Final = words.words(
    "for at on in of with and but from by für am im in bei mit und aber von vom pour chez sur avec et mais"
    " para con y pero en"
)
PLACED: Final = re.compile(r"^ (?:at|in|bei|chez|en|à) (?:the )?(?=[^\W\da-zß-öø-ÿ])")
IN_A_PLACE: Final = words.words("job flat apartment wohnung")
MOST_OF_NAME: Final = 5  # words of the name of a holder


def is_taken_over(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the memory names the holder of a role, and the statement a new one: "has a new dentist", "changed banks"."""
    role = new_role(candidate)
    if role is None or is_planned(new) or new.negated is not None or new.wish:
        return False
    if is_planned(old) or words_of_past(old) or set(map(meaning, (set(old.names) - TITLES) & set(new.names))) - {role}:
        return False
    return is_held(memory, role)


def new_role(text: str) -> str | None:
    """The role of which the user has a new holder. A purpose, place or person after it makes it a further one:
    "a new coach for tennis", "a new cleaner at the office"."""
    if (match := TAKES.fullmatch(text)) is not None:
        role = role_of(match["role"])
        bought = match["buys"] or " gekauft" in match["rest"]
        fits = role is not None and (not bought or normalise(match["role"]) in BOUGHT)
        exact = normalise(match["role"]) in table().roles  # "new trainers" are shoes
        lasting = ONCE.search(f"{text} ") is not None or LATE.isdisjoint(normalise(match["rest"]).split())
        return role if fits and exact and lasting and says_no_more(match["rest"], normalise(match["role"])) else None
    if (match := CHANGES.fullmatch(text)) is not None:
        role = one_of(match)
        return role_of(role) if says_no_more(match["rest"] or "", normalise(role)) else None
    if (match := OWN.fullmatch(text)) is not None:
        role = one_of(match)
        return role_of(role) if is_name(match["rest"], normalise(role)) else None
    return None


def role_of(word: str) -> str | None:
    return meaning(normalise(word)) if meaning(normalise(word)) in {meaning(each) for each in table().roles} else None


def is_held(memory: str, role: str) -> bool:
    """Whether the memory names the user's holder of the role, without a purpose: not "coach for tennis"."""
    match = HELD.fullmatch(memory) or HELD_AS.fullmatch(memory)
    if match is None:
        return False
    *before, said = normalise(one_of(match)).split()
    return role_of(said) == role and ADVERBS.issuperset(before) and is_name(match["rest"], said)


def is_name(rest: str, role: str) -> bool:
    """Whether the rest of a statement is a name or number: " is Dr. Osei", " is a Pixel 8 since May"."""
    named = any(each.lower() != each or each[0].isdigit() for each in WORD.findall(ENDS.split(rest)[0]))
    return named and says_no_more(rest, role)


def says_no_more(rest: str, role: str) -> bool:
    """Whether only a name, a recent time or a reason follows the role."""
    main, *later = ENDS.split(rest, maxsplit=1)
    placed = PLACED.sub(" ", main) if role in IN_A_PLACE else main
    said = WORD.findall(placed)
    if any(not ANOTHER.isdisjoint(normalise(each).split()) for each in later):
        return False
    named = [each for each in said if each.lower() != each or each[0].isdigit()]
    other = {normalise(each) for each in said if each not in named}
    return len(named) <= MOST_OF_NAME and other <= NAMELY | LATE and TIMES.keys().isdisjoint(map(normalise, named))


def one_of(match: re.Match[str]) -> str:
    found = match.groupdict()
    return found["role"] or found["role_of"]
