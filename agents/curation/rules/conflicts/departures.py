"""Detects that a home, an employment or a partnership ended because somebody moved, left or separated."""

import re
from itertools import takewhile

from agents.curation.rules.attributes.attribute_values import DWELLINGS, Reading, owners
from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.readings import readings
from agents.curation.rules.conflicts.denials import is_denial
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import ENDS_CLAUSE, is_closed, is_occasional, is_recurrent
from agents.curation.rules.statements.meaning import stems
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import Statement, statement

NOT_LEFT = words.words("handed out behind over aside")
MOST_BETWEEN = 5  # words between a verb of leaving and the employer: "quit their job at Siemens"
HOME_IN = re.compile(r"\b(?:living|staying|based) in [A-Z]")
AT_HOME = words.words("parents home")
WITH_WHOM = " moved in with "
WORKS = re.compile(
    r"^(?:The )?\S+(?: \S+)? (?:currently |still )?(?:works? (?:at|for|as|in) |has a job (?:at|as|in) |is employed"
    r"|arbeitet (?:bei|als|in|für) "
    r"|travaille (?:chez|comme|à|en|pour|dans) |trabaja (?:en|como|de|para) )",
    re.IGNORECASE,
)
VOLUNTARY = words.words(
    "volunteer volunteers voluntary fun garden allotment team teams pairs shifts bursts ehrenamtlich bénévole voluntario"
)
VERB_LAST = words.words("gekündigt")  # "hat bei Bosch gekündigt"
AUXILIARIES = words.words("hat der die das dem den user nutzer nutzerin seinen ihren seine ihre stelle job")
ALONE = words.words("alone allein seul seule solo sola")
MERELY_LEFT = words.words("left leaving verlassen quitté quitte dejó dejado raus weg bye")
JOB = words.words("the their his her a job post position role at with")
OUT_OF = words.words("from off by bei chez en de la le l")
FROM_WHOM = words.words("with from mit von avec de con")


def has_moved(candidate: str, new: Statement, memory: str, old: Statement) -> bool:
    """Whether the candidate is a move to a place without a name, such as "moved in with a friend", and the memory a home."""
    said = f" {normalise(candidate)} "
    if not is_dwelling(memory, old) or not any(is_moving(said, phrase) for phrase in table().moving_house):
        return False
    if WITH_WHOM in said and len(home_names(memory)) and set(old.names) - set(home_names(memory)):
        return False  # it says with whom the user lives, not where
    if is_denial(new) or is_denial(old) or new.wish or old.wish or new.subject != old.subject:
        return False
    return owners(candidate) == owners(memory) and set(new.names).isdisjoint(old.names)


def home_names(memory: str) -> tuple[str, ...]:
    """The town of the home in a memory."""
    return next((reading.value for reading in readings(memory) if reading.attribute == "home"), ())


def is_moving(said: str, phrase: str) -> bool:
    """Whether the phrase is the whole clause, companions aside: "moved out", not "moved out of the way"."""
    _, met, behind = said.partition(f" {phrase} ")
    rest = behind.split()
    if not met or is_occasional(statement(behind)) or "for" in rest:
        return False
    return phrase.endswith(("with", "parents")) or not rest or rest[0] in ENDS_CLAUSE | {"in", "last", "again", "with"}


def is_dwelling(memory: str, old: Statement) -> bool:
    """Whether the memory says where the user lives, or that they live alone; not "lives on a budget", "rents a car"."""
    if table().living.isdisjoint(old.tokens) or "out" in old.tokens:
        return False
    at_home = any(reading.attribute == "home" for reading in readings(memory))
    return (
        at_home
        or HOME_IN.search(memory) is not None
        or not (DWELLINGS | AT_HOME).isdisjoint(old.tokens)
        or old.tokens[-1] in ALONE
    )


def is_left(new: Statement, old: Statement, known: tuple[Reading, ...]) -> bool:
    """Whether the candidate says that the user left the memory's employer for good, not "at five"."""
    if (
        table().leaving.isdisjoint(new.tokens)
        or new.relations
        or new.subject is not None
        or is_denial(old)
        or old.relations
    ):
        return False
    if is_occasional(new):
        return False
    followed = zip(new.tokens, (*new.tokens[1:], ""), strict=True)
    places = (at for at, (token, after) in enumerate(followed) if token in table().leaving and after not in NOT_LEFT)
    behind = [
        (
            new.tokens[place],
            new.tokens[max(place - MOST_BETWEEN, 0) : place]
            if new.tokens[place] in VERB_LAST
            else new.tokens[place + 1 :],
        )
        for place in places
    ]
    return any(
        each.attribute == "employer" and is_left_for_good(verb, after, each.value, new.names)
        for each in known
        for verb, after in behind
    )


def is_out_of_work(stated: tuple[Reading, ...], memory: str, old: Statement) -> bool:
    """Whether the candidate says that the user is retired or unemployed, and the memory is about a paid job."""
    out = any(
        each.attribute == "work" and each.value[0] in ("retired", "unemployed") and not each.owner for each in stated
    )
    if not out or is_denial(old) or old.relations or old.wish or old.subject is not None or is_recurrent(old):
        return False
    return WORKS.search(memory) is not None and VOLUNTARY.isdisjoint(old.tokens)


def is_left_for_good(verb: str, after: tuple[str, ...], employer: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether the verb is about a job, or the employer follows it directly and ends the clause; not "left the keys at
    Siemens"."""
    if verb in VERB_LAST:
        return bool(set(employer) & set(after)) and set(after) - set(employer) <= JOB | OUT_OF | AUXILIARIES
    if verb not in MERELY_LEFT:
        between = list(takewhile(lambda each: each not in employer, after[:MOST_BETWEEN]))
        return bool(set(employer) & set(after[:MOST_BETWEEN])) and set(between) <= JOB | OUT_OF
    own = [token for token in after if token not in JOB]
    named = own[: len(employer)]
    rest = own[len(named) :]
    if rest[:1] == ["for"] and len(rest) > 1 and rest[1] in names:
        return list(employer) == named
    return list(employer) == named and (not rest or rest[0] in ENDS_CLAUSE | {"in", "last"})


def is_parted(candidate: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate ends the partnership in the memory: with the same name, if both have one."""
    said = f" {normalise(candidate)} "
    if not any(is_parting(candidate, said, phrase) for phrase in table().parting):
        return False
    if is_denial(old) or new.relations - partners():
        return False
    if owners(candidate) - partners() or table().partners.isdisjoint(old.tokens) or old.relations - partners():
        return False
    return not new.names or not old.names or bool(set(new.names) & set(old.names))


def is_parting(text: str, said: str, phrase: str) -> bool:
    """Whether persons separate, not things: "split with Ines", not "split the bill", "broke up with the band"."""
    _, met, behind = said.partition(f" {phrase} ")
    rest = behind.split()
    if not met:
        return False
    whom = rest[1:3] if rest[:1] and rest[0] in FROM_WHOM else []
    named = bool(whom) and (whom[0] in statement(text).names or any(each in words.RELATIONS for each in whom))
    return named or is_closed(text, phrase, rest) or rest[0] in {"up", "last", "in"}


def partners() -> frozenset[str]:
    return stems(table().partners)
