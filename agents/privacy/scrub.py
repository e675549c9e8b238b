"""Replaces credentials, card numbers and, if requested, personal data in texts by placeholders."""

import math
import re
from collections import Counter
from collections.abc import Collection

from msgspec import Struct

from agents.privacy.passwords import (
    AS_NAMED,
    BEHIND,
    CERTAIN,
    CERTAIN_WORDS,
    CODE_FIRST,
    MADE_UP,
    NAME_WORDS,
    NAMED,
    PAIR,
    PIN,
    SEED_PHRASE,
    is_password,
)
from agents.privacy.personal_data import PERSONAL
from agents.privacy.secrets import ASSIGNED, HEX, KEY_WORDS, PATH, PLAIN, SHAPE_WORDS, SHAPES, WORDLESS_SHAPES
from schemas.policies.policies import PersonalKind, Privacy

# 20 random base62 characters have about 4 bits per character; words, hosts and paths have less than 3.5. Values named API
# key or secret need less: 16 hexadecimal characters have at most 4, and some random ones only 3.
RANDOM_BITS = 3.5
NAMED_BITS = 2.8

# Payment card numbers: groups of four digits, or those of American Express (4-6-5) and Diners Club (4-6-4).
CARD = re.compile(
    r"(?<![A-Za-z0-9_-])(?<!\d[ .])[2-6]\d{3}(?:(?:[ .-]?\d{4}){2}[ .-]?\d{1,7}|[ .-]?\d{6}[ .-]?\d{4,5})"
    r"(?![A-Za-z0-9_-])(?!\.\d)"
)
# Issuer prefixes (ISO/IEC 7812) with the lengths in use.
ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}"
    r"|6(?:011|[245]\d\d)\d{12}(?:\d{3})?|(?:5[06-8]|6[0-9])\d{14}(?:\d{3})?"
)


class Scrubbed(Struct, frozen=True):
    """The text with placeholders, and the number of replacements by kind."""

    text: str
    found: dict[str, int]


def scrub(text: str, personal: Collection[PersonalKind] = ()) -> Scrubbed:
    """Replaces credentials and card numbers by `[API_KEY]`, `[PASSWORD]` and so on. Idempotent.

    `personal` names the kinds of personal data to replace by `[EMAIL]`, `[PHONE]` and `[ADDRESS]`. Hashes, UUIDs and order
    numbers stay: only known patterns, named values and card numbers with a valid check digit are replaced.
    """
    found: Counter[str] = Counter()
    folded = text.casefold()
    for kind, pattern in SHAPES if any(word in folded for word in SHAPE_WORDS) else WORDLESS_SHAPES:
        text = replace_matches(text, pattern, kind, found)
    for pattern in CERTAIN if any(word in folded for word in CERTAIN_WORDS) else ():
        text = replace_matches(text, pattern, "PASSWORD", found)
    text = replace_matches(text, SEED_PHRASE, "SECRET", found)
    text = replace_matches(text, CODE_FIRST, "PIN", found)
    text = PIN.sub(lambda match: replace_pin(match, found), text)
    folded = text.casefold()
    if any(word in folded for word in KEY_WORDS):
        text = ASSIGNED.sub(lambda match: replace_assigned(match, found), text)
    if any(word in folded for word in NAME_WORDS):
        text = NAMED.sub(lambda match: replace_password(match, found), text)
        text = AS_NAMED.sub(lambda match: replace_random(match, found), text)
    text = PAIR.sub(lambda match: replace_random(match, found), text)
    text = CARD.sub(lambda match: replace_card(match, found), text)
    for kind in (kind for kind in PERSONAL if kind in personal):
        for pattern in PERSONAL[kind]:
            text = replace_matches(text, pattern, kind.upper(), found)
    return Scrubbed(text, dict(found))


def storable(text: str, privacy: Privacy) -> str:
    """The text as it may be stored: without what the policy removes before storage."""
    return scrub(text, privacy.scrub).text


def sendable(text: str, privacy: Privacy) -> str:
    """The text as a model or embedder may receive it."""
    return scrub(text, privacy.not_sent).text


def replace_matches(text: str, pattern: re.Pattern[str], kind: str, found: Counter[str]) -> str:
    return pattern.sub(lambda match: placeholder(match, kind, found), text)


def placeholder(match: re.Match[str], kind: str, found: Counter[str]) -> str:
    """The placeholder for a match. The match's group `keep` (a name before the secret, a host after it) stays."""
    groups = match.groupdict()
    if is_placeholder(groups.get("secret") or match[0]):
        return match[0]
    found[kind] += 1
    return f"{groups.get('keep') or ''}[{kind}]{groups.get('rest') or ''}"


def replace_pin(match: re.Match[str], found: Counter[str]) -> str:
    found["PIN"] += 1
    return f"{match['keep'] or match['keep_cvv']}[PIN]"


def replace_password(match: re.Match[str], found: Counter[str]) -> str:
    """Replaces the value after a password's name, if it is one. The punctuation that ends the sentence stays."""
    value = match["quoted"] or match["bare"]
    if is_placeholder(value) or not is_password(match):
        return match[0]
    found["PASSWORD"] += 1
    if match["quoted"]:
        return f"{match['keep']}{match['quote']}[PASSWORD]"
    return f"{match['keep']}[PASSWORD]{value[len(value.rstrip(BEHIND)) :]}"


def replace_random(match: re.Match[str], found: Counter[str]) -> str:
    value = match["secret"]
    return placeholder(match, "PASSWORD", found) if MADE_UP.fullmatch(value) else match[0]


def replace_assigned(match: re.Match[str], found: Counter[str]) -> str:
    """Replaces a value assigned to a key, secret or token, if it looks random; words and numbers stay."""
    value = match["secret"].rstrip(".!?:")
    certain = match["certain"] is not None
    if is_placeholder(value) or PLAIN.fullmatch(value) or PATH.fullmatch(value) or not (certain or len(value) >= 17):
        return match[0]
    if match["bare"] and not re.search(r"\d.*[A-Za-z]|[A-Za-z].*\d", value):
        return match[0]
    if bits_per_character(value) < (NAMED_BITS if certain else RANDOM_BITS) or (not certain and HEX.fullmatch(value)):
        return match[0]
    found["SECRET"] += 1
    return f"{match['keep']}[SECRET]{match['secret'][len(value) :]}"


def replace_card(match: re.Match[str], found: Counter[str]) -> str:
    if not is_card(match[0]):
        return match[0]
    found["CARD_NUMBER"] += 1
    return "[CARD_NUMBER]"


def is_placeholder(value: str) -> bool:
    return value.startswith("[") or set(value) <= set("*x•.…<>{}$")


def bits_per_character(value: str) -> float:
    """The Shannon entropy of the text's characters, in bits per character."""
    counts = Counter(value)
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())


def is_card(number: str) -> bool:
    """Whether a run of digits, spaces, dots and dashes is a card number."""
    digits = re.sub(r"\D", "", number)
    return bool(ISSUED.fullmatch(digits)) and passes_luhn(digits)


def passes_luhn(digits: str) -> bool:
    """Whether the check digit is valid (Luhn algorithm, ISO/IEC 7812-1)."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
