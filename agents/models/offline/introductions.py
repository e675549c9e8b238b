"""Splits sentences that greet or introduce the speaker: statements after these words are read on their own. The classifier of
sentences takes "Hello, I'm allergic to nuts" for made up, and "I'm allergic to nuts" for a limit."""

import re
from collections.abc import Iterator
from typing import Final

# A name in it has a capital. Without a comma the speaker follows: "Hello Kitty is a brand" has no greeting.
GREETING: Final = re.compile(
    r"(?i:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|servus|moin|guten (?:tag|morgen|abend)"
    r"|bonjour|bonsoir|salut|coucou|hola|buenas|buen[oa]s (?:días|tardes|noches))"
    r"(?: (?:(?i:there|again|all|everyone|everybody|folks|guys|team|zusammen|alle|à tou[st]e?s?|tout le monde|a tod[oa]s)"
    r"|[A-ZÀ-Þ]\w{0,30}))?"
    r"(?:[,:] *|(?=(?i: (?:I|I'm|my|ich|je|j'\w+|me|soy|tengo|vivo)\b)) *)(?=\w)"
)
NAME: Final = r"[A-ZÀ-Þ][\w-]{0,30}(?: [A-ZÀ-Þ][\w-]{0,30})?"
FIRST_PERSON: Final = (  # German verbs that speak of the speaker without naming them
    r"bin|habe|wohne|lebe|arbeite|komme|studiere|lerne|spreche|spiele|mache|leite|unterrichte|reise|fahre"
    r"|esse|trinke|mag|liebe|hasse|vertrage|leide|nehme|darf|kann|brauche|suche"
)
# Each with the subject of a further clause that leaves it out.
INTRODUCTIONS: Final = (
    (re.compile(rf"((?i:my name is) {NAME}),? and ((?:I|I'm|I've|my|we)\b.*)", re.DOTALL), ""),
    (
        re.compile(rf"((?i:ich (?:heiße|heisse|bin)) {NAME}),? und ((?:{FIRST_PERSON})\b.*)", re.DOTALL),
        "Ich ",
    ),
    (
        re.compile(
            rf"((?i:me llamo|soy) {NAME}),? y ((?:no |me |yo |mi )*(?:soy|estoy|[a-z]\w{{1,20}}o)\b.*)", re.DOTALL
        ),
        "",
    ),
)


def without_introduction(sentence: str) -> Iterator[str]:
    """The sentence without its greeting; an introduction ("My name is Ada and I live in Leeds") is a sentence of its own."""
    greeted = GREETING.match(sentence)
    said = sentence[greeted.end() :] if greeted else sentence
    for pattern, subject in INTRODUCTIONS:
        if introduced := pattern.fullmatch(said):
            yield f"{capitalised(introduced[1])}."
            yield capitalised(subject + introduced[2])
            return
    yield capitalised(said) if greeted else said


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
