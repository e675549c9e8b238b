"""Reads a sentence that takes a statement back and makes another: "I said Miso is four, he's actually five" is "Miso is actually
five", and "no, not type 1, I have type 2" is "I have type 2"."""

import re
from typing import Final

LEAD: Final = r"\W*(?:(?:sorry|oops|no|wait|oh|nein|doch|entschuldigung|verzeihung|moment)\b\W*)*"
IS: Final = (
    r"(?:is|are|was|were|has|have|had|lives?|works?|likes?|starts?|leaves?|begins?|comes?|arrives?|called|named)"
)
REALLY: Final = r"(?:actually|really|in fact)"
IST: Final = r"(?:ist|sind|war|hat|haben|wohnt|lebt|arbeitet|heißt|beginnt|kommt)"
EIGENTLICH: Final = r"(?:eigentlich|tatsächlich|in wirklichkeit|aber|doch)"
# The subject of the old statement stands for the pronoun of the new one.
OF_ANOTHER: Final = {
    "en": re.compile(
        rf"^{LEAD}(?:earlier |before )?I (?:had |have )?(?:said|told you|mentioned|wrote|thought) (?:earlier |before )?(?:that )?"
        rf"(?P<subject>(?!I\b)\w[\w' -]{{0,40}}?) {IS} [^,;.]{{1,60}}?"
        rf"(?:,? but (?:he|she|it|they) (?P<new>(?:{REALLY} )?{IS} .+)"
        rf"|,? (?:he|she|it|they) (?P<new2>{REALLY} {IS} .+|{IS} {REALLY} .+))$",
        re.IGNORECASE,
    ),
    "de": re.compile(
        rf"^{LEAD}ich (?:habe|hatte) (?:vorhin |gestern |dir )*gesagt, (?P<subject>(?!ich\b)\w[\w -]{{0,40}}?) "
        rf"{IST} [^,;.]{{1,60}}, (?:(?:aber|dabei) (?:er|sie|es) (?P<new>{IST} .+)|(?:er|sie|es) (?P<new2>{IST} {EIGENTLICH} .+))$",
        re.IGNORECASE,
    ),
}
OF_SPEAKER: Final = {
    "en": re.compile(
        rf"^{LEAD}(?:earlier |before )?I (?:had |have )?(?:said|told you|mentioned|wrote) (?:earlier |before )?(?:that )?"
        rf"(?:I|my) [^,;.]{{1,60}}?,? (?:but (?:{REALLY} )?|{REALLY},? )(?P<new>I .+)$",
        re.IGNORECASE,
    ),
    "de": re.compile(
        rf"^{LEAD}ich (?:habe|hatte) (?:vorhin |gestern |dir )*gesagt, ich [^,;.]{{1,60}}, (?:aber|dabei) (?P<new>ich .+)$",
        re.IGNORECASE,
    ),
}
DENIED: Final = {
    "en": re.compile(rf"^{LEAD}not (?P<old>[^,;.]{{1,30}})[,;] (?P<new>(?:I|we|my|our) .+)$", re.IGNORECASE),
    "de": re.compile(
        rf"^{LEAD}nicht (?P<old>[^,;.]{{1,30}})[,;] (?P<new>(?:ich|wir|meine?|unsere?) .+)$", re.IGNORECASE
    ),
}
EMPHASIS: Final = {
    "en": re.compile(rf" ?\b{REALLY}\b(?=.)", re.IGNORECASE),
    "de": re.compile(rf" ?\b{EIGENTLICH}\b(?=.)", re.IGNORECASE),
}
WORD: Final = re.compile(r"[^\W\d_]+")


def without_what_is_taken_back(sentence: str, code: str) -> str:
    """The statement that a sentence puts in the place of another one that it names; other sentences are unchanged."""
    if code not in DENIED:
        return sentence
    found = OF_ANOTHER[code].match(sentence)
    if found is not None:
        return f"{found['subject']} {without_emphasis(found['new'] or found['new2'], code)}"
    found = OF_SPEAKER[code].match(sentence)
    if found is not None:
        return found["new"]
    found = DENIED[code].match(sentence)
    if found is not None and words_of(found["old"]) & words_of(found["new"]):
        return found["new"]
    return sentence


def without_emphasis(text: str, code: str) -> str:
    return EMPHASIS[code].sub("", text, count=1)


def words_of(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}
