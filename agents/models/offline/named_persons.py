"""Whether a text speaks of a person whom it names. In doubt it means somebody else of this name. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from agents.models.answers.persons import COMMON_ID, TITLE
from agents.models.offline.no_names import is_name

FIRST_NAME: Final = re.compile(r"[^\W\d_]{2,}(?:['’-][^\W\d_]+)*")
# First names that are also words with a capital letter at a sentence's beginning: "Will be there at six", "Rose prices rose".
WORDS: Final = re.compile(
    "art|bill|chase|chip|dawn|drew|ernst|faith|forest|frank|grace|grant|guy|harmony|hope|hunter|jade|joy|lance|luz|mark|max|miles"
    "|misty|nick|olive|pat|patience|paz|pearl|penny|pierre|prudence|rain|ray|reed|rich|rob|rose|rusty|sandy|skip|sky|sol|star"
    "|stormy|sue|violet|wade|will|wolf",
    re.IGNORECASE,
)
OWNERS: Final = (
    r"(?:an?|another|other|ander\w+|autre|otra|my|our|your|his|her|their|[mds]?eine?[mnrs]?|unsere?[mnrs]?|eure?[mnrs]?"
    r"|ihre?[mnrs]?|une?|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|votre|leur|una|mis?|tus?|sus?|nuestr[oa])"
)
PRONOUNS: Final = "He|Here|How|It|Let|She|That|There|What|Where|Who"
# "my sister Marta", "meine Kollegin, Marta", "Tom's big sister Marta"; not "I told my boss that Marta ..."
OF_SOMEBODY: Final = re.compile(
    rf"\b(?:(?i:{OWNERS})|(?!(?:{PRONOUNS})\b)[^\W\d_a-z][\w-]*['’]s)\s+"
    r"(?:(?!(?:that|dass|que|and|und|et|y)\b)[\w-]+,?\s+){0,2}$"
)
WORD_BEFORE: Final = re.compile(r"([\w'’-]+)[ \t\u00a0]+$")
MAX_BEFORE: Final = 80  # characters before a name
# "Marta van Dijk", "Marta-Luise", "Marta, my sister"
OF_ANOTHER: Final = re.compile(rf"-\w|\s+(?:van|von|de|del|della|di|dos|ter|ten|bin|ibn|af)\b|,\s+(?i:{OWNERS})\b")
WORD_BEHIND: Final = re.compile(r"[ \t\u00a0]+([^\W\d_])")
TOGETHER: Final = re.compile(r"\s+(?:and|or|und|oder|et|ou|y|e|o|with|mit|avec|con)\b")
REPORTED: Final = re.compile(
    r"(?:[\w'’-]+ ){1,3}(?:said|says|mentioned|heard|sagte?|dit|dijo|dice),? (?:(?:that|dass|que) |qu['’])"
)


def first_name(name: str) -> str:
    """The first word of a name, capitalised."""
    first = next(iter(name.split()), "")
    return first[:1].upper() + first[1:]


def names(text: str, name: str) -> bool:
    """Whether a text has the first name, of whomever."""
    return next(mentions(text, name), None) is not None


def speaks_of(text: str, name: str) -> bool:
    """Whether a text speaks of the person: "Marta told me", "Marta's mother". "Thanks, Marta!" only addresses them, and "Marta
    Jones" or "my sister Marta" is somebody else. A name that is also a word must occur within a sentence."""
    first = first_name(name)
    if not FIRST_NAME.fullmatch(first) or TITLE.fullmatch(first) or COMMON_ID.fullmatch(first) or not is_name(first):
        return False
    found = list(mentions(text, name))
    if any(is_another(text, each) for each in found):
        return False
    told = [each for each in found if is_told_of(text, each)]
    return any(not WORDS.fullmatch(first) or WORD_BEFORE.search(before(text, each)) for each in told)


def is_subject(text: str, name: str) -> bool:
    """Whether a text begins with the person, who alone does something or has something: "Marta is ill", "Tom said that Marta's
    mother is ill"; not "Marta and Tom are moving"."""
    found = list(mentions(text, name))
    if not found or any(is_another(text, each) for each in found):
        return False
    first = found[0]
    begins = first.start() == 0 or REPORTED.fullmatch(text[: first.start()]) is not None
    return begins and is_told_of(text, first) and TOGETHER.match(text, first.end()) is None


def mentions(text: str, name: str) -> Iterator[re.Match[str]]:
    """The places with the first name, together with further names of the person and a possessive ending, if they follow."""
    if not (first := first_name(name)):
        return iter(())
    further = "|".join(re.escape(each) for each in name.split()[1:]) or r"(?!)"
    own = rf"{re.escape(first)}(?:[ -](?:{further})(?!\w))*"
    return re.finditer(rf"(?<![\w-]){own}(?P<whose>['’]?s\b|['’](?=\s))?(?!\w)", text)


def is_another(text: str, mention: re.Match[str]) -> bool:
    """Whether the words around the name show that it is another person's: a surname, a title or a relation."""
    ahead = before(text, mention)
    word = WORD_BEFORE.search(ahead)
    if OF_SOMEBODY.search(ahead) or (word and word[1][:1].isupper()) or OF_ANOTHER.match(text, mention.end()):
        return True
    behind = WORD_BEHIND.match(text, mention.end())
    return behind is not None and mention["whose"] is None and not behind[1].islower()


def is_told_of(text: str, mention: re.Match[str]) -> bool:
    """Whether something is told of the person: a possessive ending or a word in lower case follows the name."""
    return mention["whose"] is not None or WORD_BEHIND.match(text, mention.end()) is not None


def before(text: str, mention: re.Match[str]) -> str:
    return text[max(0, mention.start() - MAX_BEFORE) : mention.start()]
