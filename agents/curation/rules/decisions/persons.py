"""Compares whom two statements are about."""

from agents.curation.rules.attributes.attribute_values import owners
from agents.curation.rules.attributes.readings import readings
from agents.curation.rules.statements.statement import statement
from agents.models.answers.speakers import has_user_as_subject


def is_about_somebody_else(text: str, other: str) -> bool:
    """Whether a statement is clearly about another person than the other one. Statements that end something ("is divorced"),
    or name a person of the other one ("husband is Pavel"), may be about the same."""
    new, old, mine, theirs = statement(text), statement(other), owners(text), owners(other)
    if mine == theirs or not (new.understood and old.understood):
        return False
    attributes = {each.attribute for each in readings(text)}
    if attributes & {each.attribute for each in readings(other)} or not theirs:
        return True
    is_over = new.ended or new.denied or new.negated is not None or any(each.state for each in readings(text))
    return not is_over and set(new.names).isdisjoint(old.names)


def may_be_about_one(text: str, other: str) -> bool:
    """Whether both name a person or thing by the same relation or name, also at the beginning ("Max", "the user's son Max"), or
    one begins with neither the user nor a relation: "he" and names may be anybody."""
    if not (has_known_subject(text) and has_known_subject(other)):
        return True
    new, old = statement(text), statement(other)
    mine, theirs = ({*each.names, *([each.subject] if each.subject else [])} for each in (new, old))
    return bool(new.relations & old.relations or mine & theirs)


def has_known_subject(text: str) -> bool:
    """Whether the statement is about the user, or the user's people or animals."""
    return bool(owners(text)) or has_user_as_subject(text, None)
