"""Decides whether a statement contradicts a memory: both must be about the same person and the same attribute."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

from agents.curation.rules.attributes.attribute_values import Reading
from agents.curation.rules.attributes.readings import denied_readings, is_marked, readings
from agents.curation.rules.conflicts.denials import denied, is_denial, opposed, reversed_comparison
from agents.curation.rules.conflicts.departures import has_moved, is_left, is_out_of_work, is_parted
from agents.curation.rules.conflicts.figures import OTHER_FIGURE, other_figure
from agents.curation.rules.conflicts.replacements import done_by_another
from agents.curation.rules.conflicts.stated_changes import stated_change
from agents.curation.rules.conflicts.transitions import has_run_its_course
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import occasions
from agents.curation.rules.statements.statement import Statement, statement
from agents.models.offline.rules.lasting_instructions.wording import remark_of

DENIALS = {
    "it is denied": denied,
    "it says the opposite": opposed,
    "the other way round": reversed_comparison,
    OTHER_FIGURE: other_figure,
}

A_TIME = r"(?:\d|noon|midnight|dark|work|school|lunch|dinner|breakfast|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)"
REASON = re.compile(
    rf",|;|: (?=[A-Z])| (?:because|since|after(?! {A_TIME})|as|according|weil|seit|nach|parce|depuis|porque|desde) "
)
CAUSE = re.compile(r" (?:because|due to|owing to|weil|wegen|parce|à cause|porque|debido)\b")
JOINED = re.compile(r"(?:;|,? and| und| et| y) (?:(?:they|he|she|user|is now) )?", re.IGNORECASE)
ANOTHER: Final = "another "  # begins the reasons about another value of an attribute
MAIN = ("it is denied", OTHER_FIGURE)


def conflict(candidate: str, memory: str) -> str | None:
    """Why the memory no longer holds once the candidate does, in a few words; None if the rules find no contradiction, or if
    the pronouns of the two refer to different things."""
    if remark_of(candidate) != remark_of(memory):
        return None
    return next(
        (why for said in (candidate, *clauses(candidate)) if (why := conflict_of(said, memory)) is not None), None
    )


@lru_cache(maxsize=1_024)
def clauses(text: str) -> tuple[str, ...]:
    """Further clauses of a statement about the user, as statements: "weighs 75" in "lost 5 kg and weighs 75"."""
    said = statement(text)
    if said.relations or said.subject is not None or said.negated is not None or said.wish or said.scope:
        return ()
    return tuple(f"User {part}" for part in JOINED.split(text)[1:] if len(part.split()) > 1)


def conflict_of(candidate: str, memory: str) -> str | None:
    stated = dict.fromkeys((*readings(candidate), *readings(without_reason(candidate))))
    for mine in stated:
        for theirs in readings(memory):
            if mine.excludes(theirs) and (not mine.marked or is_marked(candidate) or at_one_employer(stated, memory)):
                return f"{ANOTHER}{mine.attribute.partition(',')[0]}"
    new, old = statement(candidate), statement(memory)
    if any(was.says_the_same(holds) for was in denied_readings(candidate) for holds in readings(memory)):
        return "it is denied"
    if is_of_another_person(new, old):
        return "it is somebody else"
    if has_moved(candidate, new, memory, old):
        return f"{ANOTHER}home"
    if is_out_of_work(readings(candidate), memory, old):
        return f"{ANOTHER}work"
    if is_left(new, old, readings(memory)) or is_parted(candidate, new, old):
        return "it is over"
    if new.relations == old.relations and done_by_another(candidate, memory, new, old):
        return "somebody else does it"
    if (course := has_run_its_course(candidate, new, memory, old)) is not None:
        return course
    if (change := stated_change(candidate, memory)) is not None:
        return change
    if new.relations != old.relations:
        new = statement(without_reason(candidate))  # asides may be about others
    if new.relations != old.relations or of_other_subject(new, old):
        return None
    if (name := next((name for name, denies in DENIALS.items() if denies(new, old)), None)) is not None:
        return name
    main, known = statement(without_reason(candidate)), statement(CAUSE.split(memory, maxsplit=1)[0])
    if main.scope != new.scope:
        return None
    return next(
        (name for name in MAIN if DENIALS[name](main, old) or (is_denial(old) and DENIALS[name](main, known))), None
    )


def without_reason(text: str) -> str:
    """The statement without its reason ("because ..."). A time such as "after noon" is not a reason."""
    main = REASON.split(text, maxsplit=1)[0]
    return text if occasions(statement(main)) != occasions(statement(text)) else main


def begins_on_a_day(text: str) -> bool:
    """Whether the statement has an attribute that begins on the day of its event, such as a home."""
    return any(reading.begins for reading in readings(text))


def at_one_employer(stated: Iterable[Reading], memory: str) -> bool:
    """Whether both name the same employer: then a new profession replaces the old one."""
    mine, theirs = ({each.value for each in of if each.attribute == "employer"} for of in (stated, readings(memory)))
    return bool(mine & theirs)


def is_of_another_person(new: Statement, old: Statement) -> bool:
    """Whether both say the same about a person of the same name with different relations to the user (a cousin, a brother)."""
    if new.relations == old.relations or not (new.relations and old.relations) or new.names != old.names:
        return False
    if not (is_named(new) and is_named(old)):
        return False
    rest = [Counter(each.content) - Counter(each.relations) for each in (new, old)]
    return rest[0] == rest[1] and is_denial(new) == is_denial(old) and new.quantities == old.quantities


def is_named(each: Statement) -> bool:
    """Whether a name follows a relation: "brother Elias"."""
    return any(one in words.RELATIONS and other in each.names for one, other in pairwise(each.tokens))


def of_other_subject(new: Statement, old: Statement) -> bool:
    return new.subject != old.subject


def is_other_value(reason: str) -> bool:
    """Whether a conflict is about another value of an attribute, by its reason: another home, but not another number."""
    return reason.startswith(ANOTHER) and reason != OTHER_FIGURE
