"""Objections to taking two similar texts for the same memory: closeness of vectors cannot tell a fact from its opposite.

Asked whether the candidate says nothing that the memory does not say already. In doubt they object: a memory kept twice
can be merged later, one folded into another is lost.
"""

from collections.abc import Callable

from agents.curation import words
from agents.curation.statement import Statement, statement

SWAPPABLE = 2  # from two names or numbers on, their order matters


def objection(candidate: str, memory: str) -> str | None:
    """The name of the first guard that objects, or None."""
    new, old = statement(candidate), statement(memory)
    return next((name for name, differs in GUARDS.items() if differs(new, old)), None)


def doubt(candidate: str, memory: str) -> str | None:
    """`language` where the guards cannot know what they compare, so that any other word may be a `not`, or None.

    The language has no lists, or its script has no spaces. Symmetric.
    """
    new, old = statement(candidate), statement(memory)
    if new.unspaced or old.unspaced:
        return "language" if new.content != old.content else None
    understood = new.understood and old.understood
    return None if understood or sorted(new.content) == sorted(old.content) else "language"


def other_numbers(new: Statement, old: Statement) -> bool:
    """A number that the memory does not have, or the same numbers of other things."""
    if new.quantities - old.quantities:
        return True
    return len(new.numbers) >= SWAPPABLE and len(old.numbers) >= SWAPPABLE and set(new.numbers) != set(old.numbers)


def other_times(new: Statement, old: Statement) -> bool:
    return bool(new.times - old.times)


def other_negation(new: Statement, old: Statement) -> bool:
    """One says not, or both do, but not of the same thing. A negated dislike is compared as a preference."""
    if new.negated is None or old.negated is None:
        return (new.negated is None) != (old.negated is None) and new.disliked == old.disliked
    return not (new.negated <= old.negated or new.negated >= old.negated)


def other_preference(new: Statement, old: Statement) -> bool:
    return new.negative != old.negative


def other_state(new: Statement, old: Statement) -> bool:
    """One of them is over."""
    return new.ended != old.ended


def opposites(new: Statement, old: Statement) -> bool:
    only_new, only_old = set(new.tokens) - set(old.tokens), set(old.tokens) - set(new.tokens)
    return any(words.OPPOSITES[word] & only_old for word in only_new if word in words.OPPOSITES)


def other_subject(new: Statement, old: Statement) -> bool:
    """About somebody or something else: another relation of the user, or another first word that is not in both."""
    if new.relations != old.relations:
        return True
    if new.subject == old.subject:
        return False
    return any(
        this.subject is not None and this.subject not in other.tokens and this.subject.rstrip("s") not in other.tokens
        for this, other in ((new, old), (old, new))
    )


def other_names(new: Statement, old: Statement) -> bool:
    """A name that the memory does not have, or the same names in another order, unless they are listed."""
    if set(new.names) - set(old.tokens):
        return True
    both = len(new.names) >= SWAPPABLE and len(old.names) >= SWAPPABLE
    moved = both and sorted(new.names) == sorted(old.names) and new.names != old.names
    return moved and not (set(new.tokens) & set(old.tokens) & words.LISTED)


def other_order(new: Statement, old: Statement) -> bool:
    """The same words in another order: `tea over coffee`, `Anna told Bob`.

    What is said with nothing but `is` may be turned round.
    """
    if sorted(new.content) != sorted(old.content):
        return False
    if new.content != old.content and compares(new) and compares(old):
        return True
    return new.subject != old.subject and not turned_round(new, old)


def compares(each: Statement) -> bool:
    return not words.COMPARISONS.isdisjoint(each.tokens)


def turned_round(new: Statement, old: Statement) -> bool:
    """Whether all words but articles are the same: the user's in one is the user's in the other."""
    return bool(set(new.tokens) & words.COPULAS) and same_words(new) == same_words(old)


def same_words(each: Statement) -> list[str]:
    return sorted(token for token in each.tokens if token not in words.ARTICLES)


def other_object(new: Statement, old: Statement) -> bool:
    """One word stands in another's place: `allergic to peanuts`, `allergic to walnuts`."""
    if len(new.content) != len(old.content):
        return False
    swapped = sum(this != other for this, other in zip(new.content, old.content, strict=True))
    return swapped == 1 or (new.unspaced and swapped > 0)


# Cheapest and surest first; the names are recorded with the decision.
GUARDS: dict[str, Callable[[Statement, Statement], bool]] = {
    "numbers": other_numbers,
    "times": other_times,
    "negation": other_negation,
    "preference": other_preference,
    "ended": other_state,
    "opposites": opposites,
    "subject": other_subject,
    "names": other_names,
    "order": other_order,
    "object": other_object,
}
