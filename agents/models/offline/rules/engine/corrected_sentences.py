"""Reads a sentence that takes a statement back and makes another: "I said Miso is four, he's actually five" is "Miso is five",
and "no, not type 1, I have type 2" is "I have type 2"."""

import re
from typing import Final

LEAD: Final = r"^\W*(?:(?:sorry|oops|no|wait|oh|nein|doch|entschuldigung|verzeihung|moment)\b\W*)*"
SAID: Final = (
    r"(?:earlier |before )?I (?:had |have )?(?:said|told you|mentioned|wrote|thought) (?:earlier |before )?(?:that )?"
)
IS: Final = r"(?:is|are|was|were|has|have|had|lives?|works?|likes?|starts?|leaves?|begins?|comes?|arrives?)"
REALLY: Final = r"(?:actually|really|in fact)"
# In English. The subject of the old statement stands for the pronoun of the new one.
OF_ANOTHER: Final = re.compile(
    rf"{LEAD}{SAID}(?P<subject>(?!I\b)\w[\w' -]{{0,40}}?) {IS} [^,;.]{{1,60}}?"
    rf"(?:,? but (?:he|she|it|they) (?P<new>(?:{REALLY} )?{IS} .+)"
    rf"|,? (?:he|she|it|they) (?P<new2>{REALLY} {IS} .+|{IS} {REALLY} .+))$",
    re.IGNORECASE,
)
OF_SPEAKER: Final = re.compile(
    rf"{LEAD}{SAID}(?:I|my) [^,;.]{{1,60}}?,? (?:but (?:{REALLY} )?|{REALLY},? )(?P<new>I .+)$", re.IGNORECASE
)
EMPHASIS: Final = re.compile(rf" ?\b{REALLY}\b(?=.)", re.IGNORECASE)
DENIED: Final = {
    "en": re.compile(rf"{LEAD}not (?P<old>[^,;.]{{1,30}})[,;] (?P<new>(?:I|we|my|our) .+)$", re.IGNORECASE),
    "de": re.compile(
        rf"{LEAD}nicht (?P<old>[^,;.]{{1,30}})[,;] (?P<new>(?:ich|wir|meine?|unsere?) .+)$", re.IGNORECASE
    ),
}
WORD: Final = re.compile(r"[^\W\d_]+")


def without_what_is_taken_back(sentence: str, code: str) -> str:
    """The statement that a sentence puts in the place of another one that it names; other sentences are unchanged."""
    if code == "en" and (found := OF_ANOTHER.match(sentence)):
        return f"{found['subject']} {EMPHASIS.sub('', found['new'] or found['new2'], count=1).lstrip()}"
    if code == "en" and (found := OF_SPEAKER.match(sentence)):
        return found["new"]
    denied = DENIED[code].match(sentence) if code in DENIED else None
    if denied is not None and words_of(denied["old"]) & words_of(denied["new"]):
        return denied["new"]
    return sentence


def words_of(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}
