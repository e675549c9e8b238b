"""Takes credentials and card numbers out of texts before they are stored, leaving a placeholder that says what was there."""

import math
import re
from collections import Counter

from msgspec import Struct

from agents.llm.secret_shapes import ASSIGNED, CARD, PLAIN, SHAPES

# Random base62 of 20 characters has about 4 bits a character; words, hosts and paths stay below 3.5.
RANDOM_BITS = 3.5


class Scrubbed(Struct, frozen=True):
    """The text without secrets, and how many of which kind were in it."""

    text: str
    found: dict[str, int]


def scrub(text: str) -> Scrubbed:
    """Replaces what has the shape of a credential by `[API_KEY]`, `[PASSWORD]` and so on. Idempotent.

    Hashes, UUIDs and order numbers stay: only known shapes, named assignments and Luhn-valid card numbers are taken.
    """
    found: Counter[str] = Counter()
    for kind, pattern in SHAPES:
        text = pattern.sub(lambda match, kind=kind: placed(match, kind, found), text)  # type: ignore[misc]
    text = ASSIGNED.sub(lambda match: assigned(match, found), text)
    text = CARD.sub(lambda match: card(match, found), text)
    return Scrubbed(text, dict(found))


def placed(match: re.Match[str], kind: str, found: Counter[str]) -> str:
    """The placeholder; what the pattern calls `keep` (the name before the secret, the host after it) stays."""
    groups = match.groupdict()
    if is_placeholder(groups.get("secret") or match[0]):
        return match[0]
    found[kind] += 1
    return f"{groups.get('keep') or ''}[{kind}]{groups.get('rest') or ''}"


def assigned(match: re.Match[str], found: Counter[str]) -> str:
    """A value given to something called key, secret or token, if it looks random; a word or a number is left."""
    value = match["secret"]
    if is_placeholder(value) or PLAIN.fullmatch(value) or bits_per_character(value) < RANDOM_BITS:
        return match[0]
    found["SECRET"] += 1
    return f"{match['keep']}[SECRET]"


def card(match: re.Match[str], found: Counter[str]) -> str:
    digits = re.sub(r"\D", "", match[0])
    if len(set(digits)) < 2 or not passes_luhn(digits):
        return match[0]
    found["CARD_NUMBER"] += 1
    return "[CARD_NUMBER]"


def is_placeholder(value: str) -> bool:
    return value.startswith("[") or set(value) <= set("*x•.…<>{}$")


def passes_luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: from the right, every second digit doubled, digit sums, divisible by ten."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def bits_per_character(value: str) -> float:
    """Shannon entropy of the characters' frequencies."""
    counts = Counter(value)
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
