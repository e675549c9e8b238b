"""Guards: objections to treating two similar texts as the same memory. Vectors cannot distinguish a fact from its opposite.

A guard checks that the candidate says nothing that the memory does not. In doubt it objects: two copies of a memory can be
merged later, but a wrong merge loses one.
"""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

from agents.curation.rules.statements import words
from agents.curation.rules.statements.statement import TIMES, Statement, statement

SWAPPABLE = 2  # the order matters from two names or numbers on


def objection(candidate: str, memory: str) -> str | None:
    """The name of the first guard that objects, or None."""
    return next(objections(candidate, memory), None)


def objections(candidate: str, memory: str) -> Iterator[str]:
    """The names of all guards that object."""
    new, old = statement(candidate), statement(memory)
    return (name for name, differs in GUARDS.items() if differs(new, old))


def other_numbers(new: Statement, old: Statement) -> bool:
    """The candidate has a number that the memory lacks, or the same numbers count other things."""
    if new.quantities - old.quantities:
        return True
    return len(new.numbers) >= SWAPPABLE and len(old.numbers) >= SWAPPABLE and set(new.numbers) != set(old.numbers)


def other_times(new: Statement, old: Statement) -> bool:
    """The candidate has a time that the memory lacks, or the same times are in another order."""
    return bool(new.times - old.times) or moved(new, old, TIMES.keys() | words.OTHER_TIMES)


def moved(new: Statement, old: Statement, kind: AbstractSet[str]) -> bool:
    """Whether both have the same words of a class in another order, except in lists."""
    these, those = ([TIMES.get(each, each) for each in of.arranged if each in kind] for of in (new, old))
    return these != those and sorted(these) == sorted(those)


def other_negation(new: Statement, old: Statement) -> bool:
    """One is negated, or both negate different things. A negated dislike counts as a preference.

    A verb that denies ("failed to") counts separately: "never fails" has a negation and such a verb.
    """
    if new.denied != old.denied:
        return True
    if new.negated is None or old.negated is None:
        return (new.negated is None) != (old.negated is None) and new.disliked == old.disliked
    return not (new.negated <= old.negated or new.negated >= old.negated)


def other_preference(new: Statement, old: Statement) -> bool:
    return new.negative != old.negative


def other_state(new: Statement, old: Statement) -> bool:
    """Only one says that something is over."""
    return new.ended != old.ended


def only_in(this: Statement, that: Statement) -> set[str]:
    return set(this.tokens) - set(that.tokens)


def opposites(new: Statement, old: Statement) -> bool:
    missing = only_in(old, new)
    return any(words.OPPOSITES[word] & missing for word in only_in(new, old) if word in words.OPPOSITES)


def other_subject(new: Statement, old: Statement) -> bool:
    """They are about different people or things: another relation of the user, or another first word, unless "is" connects
    the same parts in reverse."""
    if new.relations != old.relations:
        return True
    return new.subject != old.subject and not turned_round(new, old)


def other_scope(new: Statement, old: Statement) -> bool:
    """Only one is restricted ("only", "partly", "perhaps")."""
    return new.scope != old.scope


def other_wish(new: Statement, old: Statement) -> bool:
    """Only one is a wish or a plan. Wishing and preferring count as the same."""
    if new.wish == old.wish:
        return False
    fact = old if new.wish else new
    return not (fact.preference or "will" in fact.tokens)


def other_tense(new: Statement, old: Statement) -> bool:
    """One is in the past tense, the other in the present."""
    return {past(new), past(old)} == {True, False}


def past(each: Statement) -> bool | None:
    """Whether the statement is in the past tense; None if unclear."""
    was, now = words.WAS.isdisjoint(each.tokens), words.IS.isdisjoint(each.tokens)
    return None if was == now else now


def other_names(new: Statement, old: Statement) -> bool:
    """The candidate has a name that the memory lacks, or the same names are in another order. The article in "a vitamin" is
    not a name."""
    known = {*old.tokens, *(token.removesuffix("s") for token in old.tokens)} - words.FUNCTION_WORDS
    return bool(set(new.names) - known - set(old.names)) or moved(new, old, set(new.names) | set(old.names))


def other_order(new: Statement, old: Statement) -> bool:
    """They compare the same things in another order: "tea over coffee", "coffee over tea"."""
    if new.content == old.content or sorted(new.content) != sorted(old.content):
        return False
    return compares(new) and compares(old)


def compares(each: Statement) -> bool:
    return not words.COMPARISONS.isdisjoint(each.tokens)


def turned_round(new: Statement, old: Statement) -> bool:
    """Whether both have the same words besides articles, with the parts around "is" exchanged."""
    return bool(set(new.tokens) & words.COPULAS) and same_words(new) == same_words(old)


def same_words(each: Statement) -> list[str]:
    return sorted(token for token in each.tokens if token not in words.ARTICLES)


def other_object(new: Statement, old: Statement) -> bool:
    """One word is replaced by another: "allergic to peanuts", "allergic to walnuts"."""
    if len(new.content) != len(old.content):
        return False
    swapped = sum(this != other for this, other in zip(new.content, old.content, strict=True))
    return swapped == 1 or (new.unspaced and swapped > 0)


# Cheap and reliable guards first; the names are stored with the decision.
GUARDS: dict[str, Callable[[Statement, Statement], bool]] = {
    "numbers": other_numbers,
    "times": other_times,
    "negation": other_negation,
    "preference": other_preference,
    "ended": other_state,
    "opposites": opposites,
    "scope": other_scope,
    "wish": other_wish,
    "tense": other_tense,
    "subject": other_subject,
    "names": other_names,
    "order": other_order,
    "object": other_object,
}
