"""Detects that a statement gives another number or time for the same thing."""

import re
from collections.abc import Set as AbstractSet

from agents.curation.rules.attributes.attribute_values import is_of_somebody
from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import ORDINALS, core
from agents.curation.rules.conflicts.denial_scope import verb_of
from agents.curation.rules.conflicts.denials import is_denial, words_of_past
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import is_habit, is_recurrent, parts_of_week, weekdays
from agents.curation.rules.statements.meaning import stems
from agents.curation.rules.statements.statement import TIMES, Statement, is_content, number

OTHER_FIGURE = "another number or time"
INDEFINITE = words.words("a an ein eine einen einem einer un une una")
ROUGHLY = words.words("up about around roughly least most maximum bis etwa rund jusqu environ hasta unos")
UNTIL = words.words("until till since bis seit jusqu depuis hasta desde")
SCHEDULED = words.words(
    "starts begins start begin planned scheduled due set takes place beginnt fängt statt findet commence empieza comienza"
)
PASSIVE = words.words("wurde wurden wird auf den dem been got été sido fue")
SIDES = words.words("back forward")
WITH_MOVES = words.words("back forward planned scheduled geplant prévu prévue")  # no change without another word
EVENTS = words.words(
    "appointment appointments checkup checkups vaccination vaccinations medication medicine pill pills rendez-vous rendezvous"
    " flight flights lesson lessons class classes course courses training trainings market"
    " markets shift shifts session sessions seminar seminars holiday holidays termin termine flug"
    " unterricht kurs kurse training markt schicht schichten urlaub ferien rendezvous vol cours entraînement marché"
    " vacances cita citas vuelo clase clases curso entrenamiento mercado turno vacaciones"
)
BEGINS = words.words("starts begins start begin beginnt commence empieza comienza")
COMPOUND = ("kurs", "termin", "stunde", "training", "unterricht", "flug", "schicht")  # "Zahnarzttermin"
ON_ONE_DAY = words.words(  # another weekday alone corrects them
    "exam exams prüfung prüfungen examen exámenes meeting meetings call calls interview interviews besprechung besprechungen"
    " treffen réunion réunions appel reunión reuniones llamada llamadas entrevista"
)
CLOCK_BEFORE = words.words("at from to until till um ab von bis à las")
CLOCK = re.compile(r"\d{1,2}(?::\d\d)?")
APART = 3.0  # hours between two times of two events; closer times may be a correction
EVENING_HOUR = 12
HOURS = words.words("am pm uhr h o oclock")
RECURRING = words.words(
    " ".join(line for line in words.WEEKDAYS if line.split()[0].endswith("s") and "lunes" not in line)
)


def other_figure(new: Statement, old: Statement) -> bool:
    """Whether both say the same about one thing with another number or time. Single past events and recurring ones may be
    several."""
    if is_denial(new) != is_denial(old) or new.wish != old.wish:
        return False
    moved = bool(stems(table().moved - WITH_MOVES) & set(new.content))
    empty = stems((table().moved if moved else table().moved - SIDES) | ROUGHLY | PASSIVE)
    if new.subject is not None and new.subject == old.subject:
        empty |= stems(SCHEDULED)
    mine, theirs = (core(each) - empty for each in (new, old))
    at_times = is_clock(new.quantities) and is_clock(old.quantities) and new.subject is not None
    counted = units(new) & units(old)
    less = (moved or at_times) and mine <= theirs and (verb_of(old) in mine or bool(counted))
    if not mine or not (mine == theirs or less):
        return False
    if numbered(new) != numbered(old):
        return False
    if not numbers_differ(new, old) and not times_differ(new, old):
        return False
    return moved or not (
        is_one_of_several(new) or words_of_past(old) or is_recurring(old) or are_side_by_side(new, old)
    )


def are_side_by_side(new: Statement, old: Statement) -> bool:
    """Whether both may hold: at other parts of the day or week, as two events, or for two people. Not if the new one says
    "now"."""
    if not set(table().markers).isdisjoint(new.tokens):
        return False
    if parts_of_week(new) != parts_of_week(old) or (is_of_somebody(new) and is_of_somebody(old)):
        return True
    said, days, clocks = set(new.tokens), weekdays(new) != weekdays(old), (hours(new), hours(old))
    at_others = all(clocks) and clocks[0] != clocks[1]
    if days and (at_others or len(weekdays(new)) != len(weekdays(old))):
        return True
    if is_recurrent(new) != is_recurrent(old) or (at_others and are_apart(*clocks)):
        return True
    far = at_others and abs(min(clocks[0]) - min(clocks[1])) > APART
    if not (EVENTS | ON_ONE_DAY).isdisjoint(said) or any(token.endswith(COMPOUND) for token in said):
        return far or (days and (ON_ONE_DAY | BEGINS).isdisjoint(said)) or (not days and have_other_dates(new, old))
    return words.COPULAS.isdisjoint(said) and (
        far or (times_differ(new, old) and (days or is_habit(" ".join(new.tokens))))
    )


def have_other_dates(new: Statement, old: Statement) -> bool:
    """Whether both have a month, and another one or another day of it."""
    if not all(any(time.startswith("month ") for time in each.times) for each in (new, old)):
        return False
    days = [{value for value in each.quantities if ":" not in value} for each in (new, old)]
    return days[0] != days[1] or new.times != old.times


def are_apart(hours: AbstractSet[float], others: AbstractSet[float]) -> bool:
    """Whether two spans of hours do not overlap: "8 to 12" and "14 to 18"."""
    return min(len(hours), len(others)) > 1 and max(min(hours), min(others)) >= min(max(hours), max(others))


def hours(each: Statement) -> frozenset[float]:
    """The times of day in hours since midnight: 9.5 for "at 9:30"."""
    beside = zip(("", *each.tokens), each.tokens, (*each.tokens[1:], ""), strict=False)
    said = {
        token: after
        for before, token, after in beside
        if (CLOCK.fullmatch(token) and (":" in token or before in CLOCK_BEFORE or after in HOURS))
    }
    return frozenset(
        int(hour) + int(minute or 0) / 60 + (EVENING_HOUR if after == "pm" and int(hour) < EVENING_HOUR else 0)
        for token, after in said.items()
        for hour, _, minute in (token.partition(":"),)
    )


def units(each: Statement) -> set[str]:
    return {counted for _, counted in each.numbers if is_thing(counted)}


def numbers_differ(new: Statement, old: Statement) -> bool:
    """Whether the numbers differ. A time of day differs only from another time of day, not from a count ("at 9:30", "ten
    minutes")."""
    mine, theirs = new.quantities - old.quantities, old.quantities - new.quantities
    if (is_clock(mine) and is_count(old, theirs)) or (is_clock(theirs) and is_count(new, mine)):
        return False
    return bool(mine and theirs)


def is_clock(numbers: AbstractSet[str]) -> bool:
    return any(":" in value for value in numbers)


def is_count(each: Statement, numbers: AbstractSet[str]) -> bool:
    counted = [counted for value, counted in each.numbers if value in numbers and ":" not in value]
    return any(is_thing(each) and each not in HOURS for each in counted)


def numbered(each: Statement) -> frozenset[str]:
    """Ordinal numbers after a thing, which distinguish it from others: "chapter 3"."""
    copula = next((place for place, token in enumerate(each.tokens) if token in words.COPULAS), len(each.tokens))
    main = each.tokens[:copula] if copula < len(each.tokens) else each.tokens
    beside = zip(("", *main), main, (*main[1:], ""), strict=False)
    return frozenset(
        value
        for before, token, after in beside
        if (value := number(token)) is not None and is_thing(before) and not is_thing(after)
    )


def is_thing(token: str) -> bool:
    return (
        bool(token)
        and is_content(token)
        and token not in TIMES
        and token not in words.OTHER_TIMES
        and token not in ORDINALS
        and token not in words.RELATING | UNTIL | PASSIVE
    )


def times_differ(new: Statement, old: Statement) -> bool:
    """Whether the days or months differ. Parts of the day are ignored: a thing may happen several times a day."""
    dates = set(TIMES.values())
    return bool((new.times - old.times) & dates and (old.times - new.times) & dates)


def is_one_of_several(each: Statement) -> bool:
    """Whether it is a past event, an indefinite one with a time, or something recurring."""
    timed = bool(each.times) or any(sign in number for number in each.quantities for sign in ":-")
    indefinite = timed and not INDEFINITE.isdisjoint(each.tokens) and each.subject is None
    return bool(words_of_past(each)) or indefinite or is_recurring(each)


def is_recurring(each: Statement) -> bool:
    """Whether something is done on a day of each week. A thing that "is" on such a day has only that day."""
    return not RECURRING.isdisjoint(each.tokens) and words.COPULAS.isdisjoint(each.tokens)
