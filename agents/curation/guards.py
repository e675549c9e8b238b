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
    """A name that the memory does not have, or the same names in another order."""
    if set(new.names) - set(old.tokens):
        return True
    both = len(new.names) >= SWAPPABLE and len(old.names) >= SWAPPABLE
    return both and sorted(new.names) == sorted(old.names) and new.names != old.names


def other_order(new: Statement, old: Statement) -> bool:
    """`tea over coffee` has the words of `coffee over tea`."""
    compared = set(new.tokens) & words.COMPARISONS
    return bool(compared) and sorted(new.content) == sorted(old.content) and new.content != old.content


def other_object(new: Statement, old: Statement) -> bool:
    """One word stands in another's place: `allergic to peanuts`, `allergic to walnuts`.

    The first word may be another verb for the same (`works as`, `is employed as`), but not in a preference, whose verbs
    are not among the content.
    """
    if len(new.content) != len(old.content):
        return False
    swapped = [index for index, pair in enumerate(zip(new.content, old.content, strict=True)) if pair[0] != pair[1]]
    if len(swapped) != 1:
        return False
    return swapped[0] > 0 or len(new.content) == 1 or (new.preference and old.preference)


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
