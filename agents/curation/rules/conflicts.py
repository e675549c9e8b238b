"""Whether a statement ends what a memory says: tied to whom both are about, and to what they tell of it."""

import re

from agents.curation.rules import guards, words
from agents.curation.rules.attributes import opposed_words, readings, table
from agents.curation.rules.meaning import meaning
from agents.curation.rules.statement import TIMES, Statement, is_content, number, statement
from agents.curation.rules.uncertainty import unknown

PREFIXES = ("un", "in", "dis", "non", "mé", "des")
INDEFINITE = words.words("a an ein eine einen einem einer un une una")
FILLERS = frozenset(
    map(
        meaning,
        words.words("again anymore decided chose wieder encore otra vez ever all currently")
        | words.ENDINGS
        | words.DENIALS,
    )
)
ORDINALS = words.words("st nd rd th")
REASON = re.compile(r",|;| (?:because|since|after|as|according|weil|seit|nach|parce|depuis|porque|desde) ")
MAIN = ("it is denied", "another number or time")
RECURRING = words.words(
    " ".join(line for line in words.WEEKDAYS if line.split()[0].endswith("s") and "lunes" not in line)
)


def conflict(candidate: str, memory: str) -> str | None:
    """What of the memory no longer holds once the candidate does, in a few words; None where the rules cannot tell."""
    for mine in readings(candidate):
        for theirs in readings(memory):
            if mine.excludes(theirs):
                return f"another {mine.attribute.partition(',')[0]}"
    new, old = statement(candidate), statement(memory)
    if new.relations != old.relations or of_other_subject(new, old):
        return None
    if (name := next((name for name, denies in DENIALS.items() if denies(new, old)), None)) is not None:
        return name
    main = statement(REASON.split(candidate, maxsplit=1)[0])  # without why it is so
    return None if main.scope != new.scope else next((name for name in MAIN if DENIALS[name](main, old)), None)


def begins_on_a_day(text: str) -> bool:
    """Whether it tells of an attribute that begins on a day of its own, as a home does: its event's day is that day."""
    return any(reading.begins for reading in readings(text))


def of_other_subject(new: Statement, old: Statement) -> bool:
    return new.subject != old.subject


def denied(new: Statement, old: Statement) -> bool:
    """One says that what the other says is not so, or over. What is denied must be all of what the denial names."""
    if (
        is_down(new) == is_down(old)
        or (new.disliked and old.disliked)
        or guards.other_scope(new, old)
        or not words_of_past(new).isdisjoint({"did", "didnt"})
    ):
        return False
    negative, positive = (new, old) if is_down(new) else (old, new)
    said = core(negative) - FILLERS
    return bool(said) and not unknown(said, positive) and not negative.quantities - positive.quantities


def is_down(each: Statement) -> bool:
    return each.negative or each.ended or each.denied


def over(new: Statement, old: Statement) -> bool:
    """What was held is sold, lost or finished."""
    ending, holding = stems(table().over), stems(table().holding)
    if not ending & set(new.content) or ending & set(old.content) or is_down(new) or is_down(old):
        return False
    known = core(old) - holding - stems(words.LIGHT)
    return bool(known) and core(new) - ending - holding == known


def opposed(new: Statement, old: Statement) -> bool:
    """One word stands in the place of its opposite, and nothing else differs."""
    mine, theirs = guards.only_in(new, old), guards.only_in(old, new)
    listed = opposed_words()
    pairs = {(a, b) for a in mine for b in theirs if b in listed.get(a, ()) or is_prefixed(a, b)}
    if not pairs or is_down(new) != is_down(old):
        return False
    met_new, met_old = ({pair[side] for pair in pairs} for side in (0, 1))
    empty = words.FUNCTION_WORDS
    return not (mine - met_new - empty) and not (theirs - met_old - empty) and new.quantities == old.quantities


def is_prefixed(one: str, other: str) -> bool:
    return any(one == prefix + other or other == prefix + one for prefix in PREFIXES)


def turned(new: Statement, old: Statement) -> bool:
    """The same choice, the other way round."""
    return new.preference and old.preference and guards.other_order(new, old) and is_down(new) == is_down(old)


def other_figure(new: Statement, old: Statement) -> bool:
    """The same of one thing, with another number or another time; single events of the past, and what recurs, are several."""
    if is_down(new) != is_down(old) or new.wish != old.wish:
        return False
    moved = bool(stems(table().moved) & set(new.content))
    mine, theirs = (core(each) - stems(table().moved) for each in (new, old))
    if not mine or not (mine == theirs or (moved and mine <= theirs)):
        return False
    if numbered(new) != numbered(old):
        return False
    if not numbers_differ(new, old) and not times_differ(new, old):
        return False
    return moved or not (is_one_of_several(new) or words_of_past(old) or is_recurring(old))


def numbers_differ(new: Statement, old: Statement) -> bool:
    return bool(new.quantities - old.quantities and old.quantities - new.quantities)


def numbered(each: Statement) -> frozenset[str]:
    """Numbers that tell one thing from another of its kind, as in `chapter 3 is`: they stand behind the thing and count none."""
    beside = zip(("", *each.tokens), each.tokens, (*each.tokens[1:], ""), strict=False)
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
    )


def times_differ(new: Statement, old: Statement) -> bool:
    """Days and months; parts of the day say when something is done, of which there may be several."""
    dates = set(TIMES.values())
    return bool((new.times - old.times) & dates and (old.times - new.times) & dates)


def is_one_of_several(each: Statement) -> bool:
    """An event of the past, an indefinite one with a time, or something that is done again and again."""
    timed = bool(each.times) or any(sign in number for number in each.quantities for sign in ":-")
    indefinite = timed and not INDEFINITE.isdisjoint(each.tokens) and each.subject is None
    return bool(words_of_past(each)) or indefinite or is_recurring(each)


def is_recurring(each: Statement) -> bool:
    """Done on some day of each week; what `is` on such a day has that one."""
    return not RECURRING.isdisjoint(each.tokens) and words.COPULAS.isdisjoint(each.tokens)


def words_of_past(each: Statement) -> frozenset[str]:
    copulas = words.COPULAS | words.IS
    verbs = each.tokens[1:3]
    ending = {word for word in verbs if word.endswith("ed") and copulas.isdisjoint(each.tokens)}
    return frozenset(ending | (set(verbs) & table().past))


def core(each: Statement) -> set[str]:
    """What is said, without when."""
    times = {meaning(word) for word in TIMES.keys() | words.OTHER_TIMES | ORDINALS}
    return set(each.content) - times


def stems(listed: frozenset[str]) -> frozenset[str]:
    return frozenset(map(meaning, listed))


DENIALS = {
    "it is denied": denied,
    "it is over": over,
    "it says the opposite": opposed,
    "the other way round": turned,
    "another number or time": other_figure,
}
