"""Recognises that a thing is in another place: "the staging database moved to db2", "the repository moved to GitLab"."""

import re
from typing import Final

from agents.curation.rules.statements.statement import Statement

THING: Final = r"^The (?P<what>(?:[\w'-]+ ){0,5}?[\w'-]+)"
# A name or an address, and no time ("10:30", "Friday") or part of the same place ("the second floor").
PLACE: Final = (
    r"(?!\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december)\b)(?P<place>(?-i:[A-Z])[^\s,;]*(?: (?-i:[A-Z])[^\s,;]*)*|[^\s,;]*\w[.:/]\w[^\s,;]*|[a-z]+\d\w*)"
)
MOVED: Final = re.compile(
    rf"{THING} (?:(?:has|have|is|are|was|were|been|just|now|recently) )*(?:moved|migrated|relocated) (?:over )?to {PLACE}",
    re.IGNORECASE,
)
NOW_AT: Final = re.compile(
    rf"{THING} (?:is now|are now|now runs|now run|runs now|run now) (?:at|in|on|under) {PLACE}", re.IGNORECASE
)
IS_AT: Final = re.compile(
    rf"{THING} (?:is|are|runs?|lives?|sits?)(?: now| located| hosted)? (?:at|in|on|under) {PLACE}", re.IGNORECASE
)


def is_relocated(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate says that the thing of the memory moved to another place, or is now in another one."""
    moved, was = MOVED.match(candidate) or NOW_AT.match(candidate), IS_AT.match(memory) or MOVED.match(memory)
    if moved is None or was is None or new.negated is not None or new.wish or old.negated is not None:
        return False
    return moved["what"].lower() == was["what"].lower() and place_of(moved) != place_of(was)


def place_of(found: re.Match[str]) -> str:
    return found["place"].rstrip(".").lower()
