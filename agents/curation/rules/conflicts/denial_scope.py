"""Decides whether a negation applies to the whole statement or to one word in it: "quit smoking" does not deny "smokes fish"."""

from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from agents.curation.rules.attributes.named_things import is_planned, subject_of
from agents.curation.rules.conflicts.denied_things import ABLE, AVOIDS, BEGINS, DETERMINERS
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import DAYS, is_month
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.statement import ENDED, TIMES, Statement, is_content, number

REGARDING: Final = words.words(  # verbs whose object is only perceived, discussed, lost or found
    "watch watches watching hears reads reading talks thinks knows remembers writes paints draws photographs fears"
    " lost won heard found"
    " looks studies collects schaut sieht liest regarde lit mira lee"
)
VERBAL: Final = words.words("not cannot cant dont doesnt didnt wont couldnt wouldnt")
COMPLEMENTS: Final = words.words("of on about von über sobre")
PLACES: Final = words.words("at bei chez for with mit avec con en")
AGAINST: Final = words.WISHES | {"against"}
BREAKS: Final = words.words("again anymore daily regularly outside abroad alone professionally")
A_DAY: Final = words.words(
    "day week month year pack packet bit lot cigarettes tag woche schachtel päckchen zigaretten jour semaine paquet"
    " día semana paquete cajetilla cigarrillos"
)


def denies_statement(negative: Statement, positive: Statement, said: AbstractSet[str]) -> bool:
    """Whether the negation denies the whole positive statement. `said` are the denied words."""
    if said <= subject_of(negative) or not DAYS.isdisjoint(negative.tokens) or is_for_a_month(negative):
        return False
    if negative.wish and positive.wish:
        return not has_another_object(predicate(positive), verb_of(positive), said)
    if negative.wish != positive.wish and not AGAINST.isdisjoint(negative.tokens):
        return False
    behind = predicate(positive)
    first = verb_of(positive)
    if first in said and AVOIDS.isdisjoint(negative.tokens):
        return not has_another_object(behind, first, said) and not is_of_something_else(behind, said)
    if is_of_a_verb(negative) and not is_planned(positive):
        return False
    if behind[:1] and behind[0] in words.COPULAS and not is_planned(positive):
        return False
    return first not in stems(REGARDING) and not is_of_something_else(behind, said)


def is_of_a_verb(each: Statement) -> bool:
    """Whether the negation is of a verb ("cannot drive"), not of a thing ("does not have a car")."""
    copula = words.COPULAS | words.IS
    beside = zip(("", *each.tokens), each.tokens, (*each.tokens[1:], ""), strict=False)
    return any(token in VERBAL and before not in copula and is_content(after) for before, token, after in beside)


def is_for_a_month(each: Statement) -> bool:
    """Whether something may have ended for one month only: "gave up meat in January"."""
    in_month = any(before == "in" and is_month(after) for before, after in pairwise(each.tokens))
    return ENDED in each.tokens and in_month and not each.quantities


def predicate(each: Statement) -> tuple[str, ...]:
    """The words after the subject, without words for a beginning."""
    return tuple(token for token in each.tokens[len(subject_words(each)) :] if token not in BEGINS)


def verb_of(each: Statement) -> str:
    """The stem of the first content word of the predicate."""
    return next((meaning(token) for token in predicate(each) if is_content(token)), "")


def subject_words(each: Statement) -> tuple[str, ...]:
    """The words before the predicate: articles, relations, names and words for the user."""
    known = words.GENERIC_SUBJECTS | words.ARTICLES | words.RELATIONS | set(each.names)
    place = next((place for place, token in enumerate(each.tokens) if token not in known), len(each.tokens))
    return each.tokens[:place]


def has_another_object(behind: tuple[str, ...], verb: str, said: AbstractSet[str]) -> bool:
    """Whether the verb has an object that the denial does not name: "runs a shop" for "does not run"."""
    first = next((token for token in behind if token not in ABLE | words.LIKES | {"to", "zu"}), "")
    if len(said) > 1 or meaning(first) != verb or not A_DAY.isdisjoint(behind):
        return False
    after = next((rest for token, *rest in tails(behind) if meaning(token) == verb), [])
    following = [token for token in after if token not in DETERMINERS]
    if not following or number(following[0]) is not None or following[0] in words.RELATING | TIMES.keys() | BREAKS:
        return False
    return is_content(following[0]) and following[0] not in words.OTHER_TIMES and not following[0].endswith("ly")


def tails(tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [tokens[place:] for place in range(len(tokens))]


def is_of_something_else(behind: tuple[str, ...], said: AbstractSet[str]) -> bool:
    """Whether the positive statement adds a complement ("tired of Jira"), or a place or companion before the denied words
    ("works at Siemens with Ben")."""
    kept = [token for token in behind if is_content(token) or token in COMPLEMENTS | PLACES]
    last = max((place for place, token in enumerate(kept) if meaning(token) in said), default=-1)
    if len(said) == 1 and kept[last + 1 : last + 2] and kept[last + 1] in COMPLEMENTS and kept[last + 2 : last + 3]:
        return True
    return any(
        before in PLACES and is_content(token) and meaning(token) not in said
        for before, token in pairwise(kept[: last + 1])
    )
