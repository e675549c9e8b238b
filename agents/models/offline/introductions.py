"""Splits sentences that greet or introduce the speaker: statements after these words are read on their own. The classifier of
sentences takes "Hello, I'm allergic to nuts" for made up, and "I'm allergic to nuts" for a limit. A name in a greeting ("Hi, Sara
here") becomes a sentence that rules read."""

import re
from collections.abc import Iterator
from typing import Final

from agents.models.offline.no_names import is_name

WORDS: Final = (
    r"(?i:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|servus|moin(?: moin)?|guten (?:tag|morgen|abend)"
    r"|bonjour|bonsoir|salut|coucou|hola|buenas|buen[oa]s (?:días|tardes|noches))"
)
EVERYBODY: Final = (
    r"(?i:there|again|all|everyone|everybody|folks|guys|team|zusammen|alle|à tou[st]e?s?|tout le monde|a tod[oa]s)"
)
# The speaker follows: "Hello Kitty is a brand" has no greeting, and "Hi Tom, you are vegan" is about Tom.
SPEAKER: Final = (
    r"(?=(?i:I|I'm|I've|I'd|my|we|we're|our|ich|mein\w*|wir|je|j'\w+|mon|ma|mes|nous|moi|yo|me|mi|mis|soy|estoy|tengo|vivo"
    r"|trabajo|no (?:soy|como|puedo|tengo))\b)"
)
GREETING: Final = re.compile(rf"{WORDS}(?:(?: (?:{EVERYBODY}|[A-ZÀ-Þ]\w{{0,30}}))?[,:] *|(?: {EVERYBODY})? ){SPEAKER}")
# A sentence that tells what somebody else says.
SOMEBODY_SAYS: Final = re.compile(
    r",[\"'’”»]? (?:(?:he|she|they) (?:said|says|wrote)|(?:said|says) (?:he|she|they|the)|dit-(?:il|elle)|dijo|dice|sagte?)\b",
    re.IGNORECASE,
)
MOST_GREETING_WORDS: Final = 3
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
# Greetings with the name of the speaker. "I'm …" is no such form, as most words after it are no names; nor is "it's …" alone
# ("Hi, it's Excel again").
GIVEN_WORD: Final = r"(?-i:[A-ZÀ-Þ][a-zß-ÿ]+(?:-[A-ZÀ-Þ]?[a-zß-ÿ]+|['’][A-ZÀ-Þ][a-zß-ÿ]+)?)"
GIVEN: Final = rf"(?P<name>{GIVEN_WORD}(?: {GIVEN_WORD})?)"
GREETED: Final = rf"{WORDS}(?: {EVERYBODY})?[,.!]* "
DEPARTMENT: Final = r"(?: from (?:[A-Z]{2,3}|(?!(?:the|my|our|an?)\b)[a-z][\w-]*)(?![\w-]))"
END: Final = rf"(?: *[.,!;–—-]+ *| (?:and|und|et|y) {SPEAKER}| *$)"
# Each with the sentence that says the same.
NAMED: Final = tuple(
    (re.compile(form + END, re.IGNORECASE), sentence)
    for form, sentence in (
        (rf"{GREETED}this is {GIVEN}(?: (?:here|again|speaking))?{DEPARTMENT}?", "My name is {}."),
        (rf"{GREETED}(?:it['’]?s|it is) {GIVEN}(?:(?: here| speaking){DEPARTMENT}?|{DEPARTMENT})", "My name is {}."),
        (rf"{GREETED}{GIVEN} here", "My name is {}."),
        (
            rf"(?:{GREETED})?(?:mein name ist|hier (?:spricht|schreibt)|ich bin(?:['’]?s| es),) {GIVEN}",
            "Ich heiße {}.",
        ),
        (rf"(?:{GREETED})?ici {GIVEN}", "Je m'appelle {}."),
        (rf"(?:{GREETED})?(?:aquí|te (?:habla|escribe)) {GIVEN}", "Me llamo {}."),
    )
)


def name_and_rest(text: str) -> tuple[str, str] | None:
    """The name in the greeting of a message as a sentence, and the rest: "My name is Sara." and "I'm vegan" for "Hi, Sara here,
    I'm vegan". None for other messages."""
    for pattern, sentence in NAMED:
        found = pattern.match(text)
        if found and is_name(found["name"]):
            return sentence.format(found["name"]), capitalised(text[found.end() :])
    return None


def is_greeting(sentence: str) -> bool:
    """Whether the sentence can be a greeting alone, and the next one still opens the message: "Hello!", but not "It reads:"."""
    return len(sentence.split()) <= MOST_GREETING_WORDS and not sentence.rstrip().endswith(":")


def without_introduction(sentence: str) -> Iterator[str]:
    """The sentence that opens a message without its greeting; an introduction ("My name is Ada and I live in Leeds") is a
    sentence of its own."""
    if SOMEBODY_SAYS.search(sentence):
        yield sentence
        return
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
