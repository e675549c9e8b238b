"""Finds the times at which a statement holds, and detects whether a phrase ends its clause."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from agents.curation.rules.statements import words
from agents.curation.rules.statements.statement import TIMES, Statement

OCCASIONS: Final = words.words(
    "every each during whenever when if while sometimes often usually mostly occasionally until rarely temporarily weekends"
    " holiday holidays vacation once twice this tonight ago moment later early hour hours minutes season summers winters"
    " mornings evenings nights part wenn während manchmal oft meist meistens jeden jede jedes pendant quand parfois souvent"
    " chaque cuando mientras cada suele"
)
RECURRENT: Final = words.words(
    "every each during whenever if while sometimes often usually occasionally rarely temporarily weekend weekends holidays"
    " evenings mornings part mondays tuesdays wednesdays thursdays fridays saturdays sundays summer summers winter winters"
)
PARTS_OF_WEEK: Final = words.words(
    "morning mornings noon lunchtime afternoon afternoons evening evenings night nights midnight bedtime weekend weekends weekday"
    " weekdays morgens vormittag vormittags mittag mittags nachmittag nachmittags abend abends nacht nachts wochenende"
    " wochenenden matin midi soir soirs soirée nuit mediodía tarde tardes noche noches madrugada"
)
RECURRENTLY: Final = re.compile(
    r" (?:(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|morgens|vormittags|mittags|nachmittags|abends|nachts"
    r"|unter der woche|am wochenende|an wochenenden|im (?:sommer|winter|frühling|herbst)"
    r"|(?<!depuis )(?<!dès )(?:le|les) (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|matin|soir|week end|weekend|week-end"
    r"|nuit)s?(?! \d)|la nuit|en semaine|l été|en (?:été|hiver)"
    r"|los (?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|fines)|entre semana|fines? de semana"
    r"|en (?:verano|invierno)"
    r"|(?:por|en) las? (?:mañanas?|tardes?|noches?)) "
)
DAYS: Final = words.words(
    "today tonight yesterday tomorrow heute gestern morgen hier demain aujourdhui hoy ayer mañana week"
)
BOUNDS: Final = words.words("from since starting ab seit depuis dès desde")
NEXT: Final = words.words("next nächste nächster nächsten")
ENDS_CLAUSE: Final = words.words(
    "because since after when due and but as weil wegen seit und aber parce depuis après et porque desde tras y"
)
HABIT: Final = re.compile(
    r"^(?:(?:the |user['’]s |l['’]équipe )?\S+ (?:now |always |usually )?(?:will|(?!(?:is|was|has|does|wants?) )[a-z]+(?<!s)s)"
    r"|der nutzer (?!hat |ist |war )\S+t|die nutzerin (?!hat |ist |war )\S+t|"
    r"l['’]utilisat(?:eur|rice) \S+e|el usuario (?:ahora )?\S+[ae]) ",
    re.IGNORECASE,
)
PUNCTUATION: Final = r"\s*(?:[,;.!()]|$)"


def occasions(each: Statement) -> frozenset[str]:
    """The days, seasons and times at which the statement holds: "every summer", "on Fridays", "at noon". A first day ("from
    Friday") does not count."""
    bounds = set(first_days(each.tokens)) | surnames(each)
    dated = {time for time in each.times if not time.startswith("month")} - {TIMES.get(day) for day in bounds}
    return frozenset(dated | ((OCCASIONS | DAYS) & (set(each.tokens) - bounds)))


def first_days(tokens: tuple[str, ...]) -> Iterator[str]:
    """The words after "from" and the like: "friday" in "from friday" and "from next friday"."""
    rest = [token for token in tokens if token not in NEXT]
    return (after for before, after in pairwise(rest) if before in BOUNDS)


def is_occasional(each: Statement) -> bool:
    return bool(occasions(each))


def is_recurrent(each: Statement) -> bool:
    """Whether the statement holds at recurring times: "on Saturdays", not "since Saturday"."""
    in_words = RECURRENTLY.search(f" {' '.join(each.tokens)} ") is not None
    return in_words or not RECURRENT.isdisjoint(set(each.tokens) - surnames(each))


def parts_of_week(each: Statement) -> frozenset[str]:
    """The parts of the day and of the week at which the statement holds: "evening" in "at 8 in the evening"."""
    return frozenset(PARTS_OF_WEEK & set(each.tokens))


def weekdays(each: Statement) -> frozenset[str]:
    return frozenset(time for time in each.times if time.startswith("weekday "))


def surnames(each: Statement) -> set[str]:
    """The words after another name: "Winter" in "Clara Winter" is no season."""
    return {after for before, after in pairwise(each.tokens) if {before, after} <= set(each.names)}


def is_habit(text: str) -> bool:
    """Whether the statement is a habit in the present or future tense: "drinks tea", not "ordered tea"."""
    return HABIT.match(text) is not None


def is_closed(text: str, phrase: str, rest: list[str]) -> bool:
    """Whether a clause ends after the phrase; `rest` are the words that follow."""
    if not rest or rest[0] in ENDS_CLAUSE | {"or", "again", "now", "who", "anymore"}:
        return True
    return re.search(re.escape(phrase) + PUNCTUATION, text.casefold().replace("'", "").replace("’", "")) is not None


def is_month(token: str) -> bool:
    return TIMES.get(token, "").startswith("month")
