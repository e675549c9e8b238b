"""How users ask to have something forgotten, in the languages with rules. `wishes` applies them.

`that`: what was said just before; `stated`: the same, where the message itself states something before. `named`: a `topic`, which
is a noun, or a `clause`, which is a statement. `everything`: all about the speaker. Idioms that only change the subject (`forget
it`, `vergiss es`, `olvídalo`) are in none of them, and neither are words that delete anything but what is remembered: in a chat
about code, `delete that` means a line, unless the user just stated something.
"""

import re
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["everything", "that", "stated", "named"]

GAP = r"[\s,.!:;–—-]{1,4}"
END = r"(?=\s*(?:$|[.!?,;:)–—]))"
THANKS = r"(?:please|thanks|thank you|bitte|danke|merci|s'il te pla[iî]t|gracias|por favor)"
ANY = r"(?:[^.!?;:–—]|[.:](?=\w))"  # of one clause: a mark within a number or an address ends none
REST = rf"{ANY}{{1,200}}?(?=\s*(?:$|[!?;–—]|[.:](?!\w)|,? {THANKS}\b))"


class Phrases(Struct, frozen=True):
    """One language's. Every pattern begins behind `polite`; `denied` is found where no such wish is meant; `me` are the
    words for the speaker."""

    code: str
    polite: str
    everything: tuple[str, ...]
    that: tuple[str, ...]
    stated: tuple[str, ...]
    named: tuple[str, ...]
    denied: str
    me: str


def spoken(phrases: Phrases) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """Its patterns with what they mean, those that mean more first."""
    kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("everything", phrases.everything),
        ("that", phrases.that),
        ("stated", phrases.stated),
        ("named", phrases.named),
    )
    return tuple(
        (kind, re.compile(f"[¿¡]?(?:{phrases.polite}){each}", re.IGNORECASE))
        for kind, listed in kinds
        for each in listed
    )
