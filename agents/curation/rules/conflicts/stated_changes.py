"""Detects by words of change that the subject of a memory was replaced, given up, finished or found."""

from collections.abc import Callable
from typing import Final

from agents.curation.rules.attributes.attribute_values import owners
from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import affirms, is_planned
from agents.curation.rules.conflicts.cessations import found, given_up
from agents.curation.rules.conflicts.replacements import chosen_instead, corrected, replaced, swapped
from agents.curation.rules.conflicts.roles import is_taken_over
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.statement import Statement, statement


def stated_change(candidate: str, memory: str) -> str | None:
    """The reason why the candidate ends a memory of the same subject; None if it does not."""
    new, old = statement(candidate), statement(memory)
    if new.relations != old.relations or owners(candidate) != owners(memory):
        return None
    not_yet = not table().not_yet.isdisjoint(new.tokens) and not is_planned(old)
    if not_yet or new.scope or not affirms(old):
        return None
    if subject(new) != subject(old):  # "Der Nutzer hat ..." and "Der Zahnarzt des Nutzers ist ..."
        return TAKEN_OVER if is_taken_over(candidate, memory, new, old) else None
    return next((why for why, detects in CHANGES.items() if detects(candidate, memory, new, old)), None)


def subject(each: Statement) -> str | None:
    return each.subject and meaning(each.subject)


TAKEN_OVER: Final = "replaced by another holder"
CHANGES: Final[dict[str, Callable[[str, str, Statement, Statement], bool]]] = {
    "it is replaced": replaced,
    "it is corrected": corrected,
    "something else is planned instead": chosen_instead,
    TAKEN_OVER: is_taken_over,
    "it is given up": given_up,
    "it was looked for, and is found": found,
    "another value in the same place": swapped,
}
