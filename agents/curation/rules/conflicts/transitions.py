"""Detects the natural end of the subject of a memory: a task done, an illness healed, a degree taken, a death, a birth."""

import re
from itertools import dropwhile, pairwise, takewhile
from typing import Final

from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import WHEN, core
from agents.curation.rules.conflicts.denial_scope import verb_of
from agents.curation.rules.conflicts.denials import words_of_past
from agents.curation.rules.conflicts.life_events import FICTION, LONG_AGO, MERELY, YEAR, born, died, is_long_ago, owners
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import is_occasional, is_recurrent
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.statement import Statement, is_content, number, statement
from agents.curation.rules.statements.uncertainty import compound, unknown

TASK: Final = re.compile(
    r"\b(?:(?:still )?(?:has|needs|wants|plans|intends|hopes|is going|would like) to|must(?: still)?|should"
    r"|muss(?: noch)?|doit(?: encore)?|tiene que|debe|(?:has|have) yet to) (?P<what>.+)",
    re.IGNORECASE,
)
ROUTINE: Final = re.compile(
    r"(?:take|feed|water|clean|call|walk|eat|drink|go|work|wear|use|be|have|do|live|speak|sleep)\b"
)
DONE: Final = re.compile(
    r" (?:has|have|hat|a|ha|was|were|is|are) (?:now |already |schon |déjà |ya )?(?P<verb>\S+)", re.IGNORECASE
)
TAKEN: Final = words.words("got received finished completed passed")
FINISHED: Final = words.words("done finished ready complete completed erledigt fertig gemacht fait terminé hecho listo")
LEAST_NAMED: Final = 2  # words of a task: an action and a thing
PETS: Final = words.words("dog cat hund katze chien chat perro gato")
ALLERGIES: Final = words.words("allergic allergy allergies intolerant intolerance")
OVER: Final = words.words("gone healed cured outgrew outgrown")
IS_WELL: Final = words.words("fine gone healthy gesund sano sana")  # a state; "healed" and "repaired" are events
FOR_NOW: Final = re.compile(
    r"\b(?:for now|for the (?:moment|time being)|so far|vorerst|fürs erste|im moment|pour l['’]instant|por ahora|de momento)\b",
    re.IGNORECASE,
)
OF_THE_TASK: Final = words.words("of about von über vom des de du d del sur sobre")
WITHIN: Final = words.words("in on at about into from with auf über dans sur en con")
FOR_WHOM: Final = words.words("for to für an pour para")
GENITIVES: Final = words.words("der des dem den")
NEW: Final = words.words("new neu neue neuen neues nouveau nouvelle nuevo nueva")
CLAUSES: Final = re.compile(r"[,;.()]| (?:and|but|und|aber|et|mais|y|pero) ")


def done(new: Statement, old: Statement, candidate: str, memory: str) -> bool:
    """Whether the task in the memory was done: the same verb with the same things."""
    task = TASK.search(memory)
    if (
        task is None
        or is_recurrent(old)
        or ROUTINE.match(task["what"])
        or new.negated is not None
        or new.wish
        or TASK.search(candidate)
    ):
        return False
    if any(YEAR.fullmatch(each) for each in new.quantities - old.quantities) or not is_over(new, candidate):
        return False
    what = statement(f"User {plain(task['what'])}")
    base = statement(" ".join(plain(each) for each in candidate.split()))
    named, days = core(what) - stems(MERELY), new.times - old.times
    if not FINISHED.isdisjoint(new.tokens) and len(named) > LEAST_NAMED:
        named -= {verb_of(what)}
    same = len(named) >= LEAST_NAMED and not unknown(named, base) and not compound(base, what)
    return (
        same
        and not (days and old.times)
        and not is_about_another(new, base, named - {verb_of(what)}, memory, candidate)
    )


def is_about_another(new: Statement, base: Statement, things: set[str], memory: str, candidate: str) -> bool:
    """Whether other words before or directly after the thing, or its owner, make it another one: "renewed the son's passport",
    "read Dune Messiah", "booked a flight for Ida"."""
    old = statement(" ".join(plain(each) for each in memory.split()))
    if owners(candidate) != owners(memory) or new.relations != old.relations:
        return True
    places = [place for place, token in enumerate(base.tokens) if meaning(token) in things]
    if not places or not (FICTION | LONG_AGO).isdisjoint(set(base.tokens) - set(old.tokens)):
        return bool(places)
    first, last = places[0], places[-1]
    if base.tokens[first - 1] in WHEN - set(old.tokens):
        return True  # "winter shoes"
    if not (WITHIN - set(old.tokens)).isdisjoint(base.tokens[:first]):
        return True  # "wrote in a book"
    empty = MERELY | WHEN | FINISHED | NEW | words.GENERIC_SUBJECTS | words.WAS
    if any(is_another(token, old) for token in base.tokens[: last + 1] if token not in empty):
        return True
    behind = [token for token in base.tokens[last + 1 :] if token not in empty | GENITIVES]
    if behind and is_another(behind[0], old) and not behind[0].endswith(("ly", "ed", "é", "ado", "ido")):
        return True
    people = {each for each in base.tokens if each in base.names or meaning(each) in stems(words.RELATIONS)}
    skipped = (words.ARTICLES | words.GENERIC_SUBJECTS) - OF_THE_TASK - FOR_WHOM
    following = pairwise(each for each in base.tokens[last + 1 :] if each not in skipped)
    return any(
        (before in OF_THE_TASK and token not in empty and not number(token)) or (before in FOR_WHOM and token in people)
        for before, token in following
        if token not in old.tokens
    )


def is_another(token: str, old: Statement) -> bool:
    return is_content(token) and bool(unknown({meaning(token)}, old))


def is_over(each: Statement, text: str) -> bool:
    """Whether the statement is in the past or perfect tense."""
    verb = each.tokens[1:2]
    past = any(token.endswith("ed") or token in table().past or token in table().same_verb for token in verb)
    perfect = DONE.search(text)
    return past or (perfect is not None and is_participle(perfect["verb"].casefold().strip(".,;")))


def is_participle(word: str) -> bool:
    return word.endswith(("ed", "en", "é", "ée", "ado", "ido", "t")) or word in table().same_verb


def plain(text: str) -> str:
    """The base form of an irregular verb: "send" for "sent"."""
    return " ".join(table().same_verb.get(each.casefold().strip(".,;"), each) for each in text.split())


def healed(new: Statement, old: Statement, candidate: str, memory: str) -> bool:
    """Whether the illness, pain or damage in the memory is over."""
    ailing, well = table().ailing, table().well
    if persons(new) != persons(old) or words_of_past(old) - {"left"}:
        return False
    if ailing.isdisjoint(old.tokens) or well.isdisjoint(new.tokens) or new.negated is not None or new.wish:
        return False
    if is_for_a_while(new, candidate) or is_long_ago(new, old) or owners(candidate) != owners(memory):
        return False
    part = next(each for each in map(statement, CLAUSES.split(candidate)) if not well.isdisjoint(each.tokens))
    if not ALLERGIES.isdisjoint(old.tokens) and (ALLERGIES.isdisjoint(part.tokens) or OVER.isdisjoint(part.tokens)):
        return False  # cats that are well do not end an allergy to cats
    named = core(part) - stems(well | table().after_healing | MERELY | (words.RELATIONS - PETS))
    if not named:
        return not table().acute.isdisjoint(old.tokens) and "again" in new.tokens
    if named.isdisjoint(stems(ailing)) and (part_of := ailing_part(old)) and part_of not in named:
        return False
    return not unknown(named, old) and named != stems(ailing) and not is_occasional(old)


def ailing_part(old: Statement) -> str | None:
    """The last word for the hurt or broken thing: "window" in "the car window is broken", "has a broken car window"."""
    place = next(place for place, token in enumerate(old.tokens) if token in table().ailing)
    before = [meaning(each) for each in old.tokens[:place] if is_content(each) and each not in words.GENERIC_SUBJECTS]
    behind = list(dropwhile(lambda each: not is_content(each), old.tokens[place + 1 :]))
    after = [meaning(each) for each in takewhile(is_content, behind)]
    attributive = bool(old.tokens[:place]) and old.tokens[place - 1] in words.ARTICLES | table().indefinite
    return next(reversed(after if attributive or not before else before), None)


def is_for_a_while(new: Statement, text: str) -> bool:
    """Whether something is well at certain times only: "is fine today"; not "was repaired yesterday"."""
    return is_recurrent(new) or (
        not IS_WELL.isdisjoint(new.tokens) and (is_occasional(new) or FOR_NOW.search(text) is not None)
    )


def persons(each: Statement) -> frozenset[str]:
    return each.relations - stems(PETS)


def graduated(new: Statement, old: Statement, candidate: str, memory: str) -> bool:
    """Whether the degree for which the memory's person studies was completed."""
    taken = not TAKEN.isdisjoint(new.tokens) and bool(stems(table().degrees) & core(new))
    if (
        (table().graduated.isdisjoint(new.tokens) and not taken)
        or table().studying.isdisjoint(old.tokens)
        or new.negated is not None
    ):
        return False
    what = core(new) - stems(table().graduated | table().degrees | TAKEN) - stems(MERELY)
    same_degree = stems(table().degrees) & core(new) <= core(old)
    return not new.wish and new.relations == old.relations and not unknown(what, old) and (bool(what) or same_degree)


COURSES: Final = {
    "it is done": done,
    "it is well again": healed,
    "somebody died": died,
    "it is born": born,
    "it is finished": graduated,
}


def has_run_its_course(candidate: str, new: Statement, memory: str, old: Statement) -> str | None:
    """The reason why the subject of the memory has ended; None if it has not."""
    if new.scope - old.scope:
        return None
    return next((why for why, detects in COURSES.items() if detects(new, old, candidate, memory)), None)
