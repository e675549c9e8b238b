"""Recognises the day to which an appointment is moved: in "moved to Friday" the coming Friday, and in "moved to Bath on Friday" none."""

import re
from functools import cache
from typing import Final

LOOK_AROUND_CHARS: Final = 80
# Words directly before the new day. The other languages know no weekdays alone.
TO: Final = {"en": r"to(?: the)?", "de": r"auf(?: den| die| das)?"}
MOVED: Final = {
    "en": r"mov(?:e[ds]?|ing)|reschedul\w+|postpon\w+|push(?:ed|es|ing)?|shift(?:ed|s|ing)?|br(?:ought|ings?) forward",
    "de": r"ver(?:schob|schieb|leg)\w*|vorverleg\w*|vorgezogen|umgelegt|umgebucht",
}


def is_moved_to(sentence: str, start: int, language: str) -> bool:
    """Whether the day at `start` is the one to which something is moved."""
    if language not in TO:
        return False
    before = sentence[max(0, start - LOOK_AROUND_CHARS) : start]
    around = before + sentence[start : start + LOOK_AROUND_CHARS]
    return to_pattern(language).search(before) is not None and moved_pattern(language).search(around) is not None


@cache
def to_pattern(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{TO[language]}) $", re.IGNORECASE)


@cache
def moved_pattern(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{MOVED[language]})\b", re.IGNORECASE)
