"""Display names of people, and statements about "the user" rewritten with a name."""

import re
from collections.abc import Iterable
from typing import Final

from agents.models.offline.rules.engine.injection import is_injection
from agents.privacy.scrub import storable
from schemas.extraction.requests import Speaker
from schemas.policies.policies import Privacy

MAX_NAME: Final = 64  # characters
NAMELESS: Final = "Somebody"
UNSAFE_IN_NAMES: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029<>{}\[\]\"`|\\]+")
# Nouns after "user" in statements about software: "User service is written in Go." "User records music" is about a person.
SOFTWARE: Final = (
    r"(?:(?:accounts?|agents?|api|auth\w*|base|count|data\w*|experience|feedback|fields?|flows?|groups?|guide|ids?|input|interface"
    r"|interview|journeys?|keys?|logins?|management|manual|model|name|pages?|permissions?|profiles?|record|research|rights?"
    r"|roles?|service|sessions?|settings|space|stor(?:y|ies)|tables?|test|tokens?|type)\b"
    r"|(?:counts|guides|interviews|models|names|records|services|tests|types) (?:are|were|have|run|live|must|can|will|should)\b)"
)
OWNED: Final = r"[\w-]+(?: [\w-]+)?"  # what belongs to the user, without an article: "car", "favourite drink"
# Beginnings of texts about the user, in the languages with rules, with their replacements.
BEGINNINGS: Final = (
    (re.compile(r"(?:the )?user['’]s\b", re.IGNORECASE), "{}'s"),
    (re.compile(rf"(?:the )?user\b(?!-\w)(?! {SOFTWARE})", re.IGNORECASE), "{}"),
    (re.compile(r"(?:des (?:Be)?nutzers|der (?:Be)?nutzerin)\b", re.IGNORECASE), "Von {}:"),
    (re.compile(r"(?:(?:de[rmn]|die) )?(?:Be)?nutzer(?:in|s)?\b(?!-\w)", re.IGNORECASE), "{}"),
    (re.compile(r"(?:beim (?:Be)?nutzer|bei der (?:Be)?nutzerin)\b", re.IGNORECASE), "Bei {}"),
    (re.compile(rf"(?P<what>(?:(?:der|die|das) )?{OWNED}) des (?:Be)?nutzers\b", re.IGNORECASE), "{what} von {}"),
    # "Die Schwester der Nutzerin", but not "Anna hilft der Nutzerin" or "Hört der Nutzerin zu".
    (
        re.compile(
            r"(?P<what>(?:der|die|das) (?-i:[A-ZÄÖÜ])[\w-]*"
            r"|[\w-]+(?= der \w+(?: ?:| (?:ist|sind|war|hat|haben|heißt|wohnt|lebt)\b)))"
            r" der (?:Be)?nutzerin\b",
            re.IGNORECASE,
        ),
        "{what} von {}",
    ),
    (re.compile(r"(?:l['’])?utilisat(?:eur|rice)\b", re.IGNORECASE), "{}"),
    (
        re.compile(rf"(?P<what>(?:(?:l[ae]s? |l['’]))?{OWNED}) de l['’]utilisat(?:eur|rice)\b", re.IGNORECASE),
        "{what} de {}",
    ),
    (re.compile(r"(?:al usuario|a la usuaria)\b", re.IGNORECASE), "A {}"),
    (re.compile(r"(?:(?:el|la) )?usuari[oa]\b", re.IGNORECASE), "{}"),
    (
        re.compile(rf"(?P<what>(?:(?:el|l[ao]s?) )?{OWNED}) (?:del usuario|de la usuaria)\b", re.IGNORECASE),
        "{what} de {}",
    ),
)
QUOTATION: Final = re.compile(r'("[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»)')
GENERIC_USER: Final = r"\b(?i:an?|any|new|per|each|every|other|one|no) User\b"
# The prompt's word for the speaker within a text. "The user" there is anybody who uses the software, and "User table" is a table.
MENTION: Final = re.compile(rf"{GENERIC_USER}|(?<![\w/.@-])(?<![Tt]he )User\b(?![-_/@=]|\.\w)(?! {SOFTWARE})(?! [A-Z])")
# Texts that leave out their subject, which is the user: "Is allergic to peanuts."
NO_SUBJECT: Final = re.compile(
    r"(?:Is|Was|Has|Had|Does|Did|Likes|Loves|Hates|Prefers|Wants|Lives|Works|Owns|Eats|Moved|Speaks|Decided|Will"
    r"|(?:Plans|Uses|Needs)(?! for\b)"
    r"|Cannot|Ist|Hat|Wohnt|Arbeitet|Mag|Möchte|Habite|Travaille|Aime|Vive|Trabaja|Tiene) (?!there\b|the\b|of\b)(?=[^?]*$)"
)
LEADING: Final = re.compile(  # words of a time before the subject: "Since 2019 User works at Siemens."
    r"(?:in|since|on|at|from|until|before|after|currently|now|seit|im|am|ab|bis|derzeit|depuis|en|dès|desde|hasta|ahora)\b",
    re.IGNORECASE,
)


def display_names(speakers: Iterable[Speaker], privacy: Privacy) -> dict[str | None, str]:
    """The name for each person in texts, by the person's key: the name, otherwise the id; both for people with equal names."""
    people = {each.key: each for each in speakers}
    names = [name_of(each, privacy) for each in people.values()]
    return {
        key: f"{name} ({safe_name(each.user_id, privacy) or number})" if names.count(name) > 1 else name
        for number, ((key, each), name) in enumerate(zip(people.items(), names, strict=True), 1)
    }


def name_of(speaker: Speaker, privacy: Privacy) -> str:
    return safe_name(speaker.name, privacy) or safe_name(speaker.user_id, privacy) or NAMELESS


def safe_name(name: str | None, privacy: Privacy) -> str | None:
    """The name on one line of at most MAX_NAME characters; None if it addresses a model or has content that must not be
    stored."""
    line = UNSAFE_IN_NAMES.sub(" ", name or "").strip()[:MAX_NAME].strip()
    return line if line and not is_injection(line) and storable(line, privacy) == line else None


def begins_with_user(text: str) -> bool:
    """Whether the text begins with "the user", which is ambiguous where several people speak."""
    return any(beginning.match(text) for beginning, _ in BEGINNINGS)


def mentions_user(text: str) -> bool:
    """Whether the text begins with "the user", or says "User" anywhere."""
    return begins_with_user(text) or with_name_within(text, "") != text


def has_user_as_subject(text: str, name: str | None) -> bool:
    """Whether the user is the text's subject: it begins with "User" or the person's name, or has no subject."""
    if begins_with_user(text) or NO_SUBJECT.match(text) or (LEADING.match(text) and mentions_user(text)):
        return True
    return bool(name) and re.match(rf"{re.escape(name or '')}(?!\w)", text) is not None


def with_name(text: str, name: str) -> str:
    """The text with the person's name instead of "the user" at its beginning, and instead of "User" anywhere outside of
    quotations."""
    if NO_SUBJECT.match(text):
        return f"{name} {text[0].lower()}{text[1:]}"
    for beginning, instead in BEGINNINGS:
        if found := beginning.match(text):
            return instead.format(name, **found.groupdict()) + with_name_within(text[found.end() :], name)
    return with_name_within(text, name)


def says_only_name(text: str, name: str) -> bool:
    """Whether a text with the person's name says nothing but this name: "Ada's name is Ada", "Name von Ada ist Ada"."""
    named = re.escape(name)
    whose = rf"{named}(?:['’]s name)?|(?i:(?:der |le |el )?(?:name von|nom de|nombre de)) {named}"
    verb = r"(?:is(?: called| named)?|heißt|ist|lautet|est|s['’]appelle|es|se llama)"
    return re.fullmatch(rf"(?:{whose}):? {verb} {named}\.?", text) is not None


def with_name_within(text: str, name: str) -> str:
    """The text with the name instead of "User" anywhere outside of quotations."""

    def name_or_generic(found: re.Match[str]) -> str:
        return found[0] if re.fullmatch(GENERIC_USER, found[0]) else name

    parts = QUOTATION.split(text)
    return "".join(part if at % 2 else MENTION.sub(name_or_generic, part) for at, part in enumerate(parts))


def with_user_for_name(text: str, name: str) -> str:
    """The text with "User" instead of the person's name at its beginning."""
    rest = text.removeprefix(name)
    return f"User{rest}" if rest != text and rest[:1] in (" ", "'", "’") else text
