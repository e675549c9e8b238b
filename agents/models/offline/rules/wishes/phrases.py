"""Phrases of wishes to forget, in the languages with rules. `wishes` applies them.

Kinds: `that` refers to the words just before. `stated` does too, but only if the message itself states something before.
`named` has a `topic` (a noun) or a `clause` (a statement). `everything` is all about the speaker. Idioms that only change
the subject ("forget it", "vergiss es", "olvídalo") are left out, and so are words that delete other things: in a chat about
code "delete that" means a line, unless the user just stated something.
"""

import re
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["everything", "that", "stated", "named"]

GAP = r"[\s,.!:;–—-]{1,4}"
END = r"(?=\s*(?:$|[.!?,;:)–—]))"
THANKS = r"(?:please|thanks|thank you|bitte|danke|merci|s'il te pla[iî]t|gracias|por favor)"
ANY = r"(?:[^.!?;:–—]|[.:](?=\w))"  # within one clause; punctuation inside a number or an address does not end it
# Words that limit a wish: "forget my old job, the rest is fine".
OTHERS = (
    r"(?:but |aber |mais |pero )?(?:keep |behalt\w* |garde[zr]? |guarda )?"
    r"(?:(?:all )?the rest|everything else|(?:de[rn]|das) rest|alles andere|(?:tout )?le reste|el resto|(?:todo )?lo demás)\b"
)
REST = rf"{ANY}{{1,200}}?(?=\s*(?:$|[!?;–—]|[.:](?!\w)|,? {THANKS}\b|,\s*{OTHERS}))"


class Phrases(Struct, frozen=True):
    """The phrases of one language. Every pattern may follow `polite` words. `denied` marks sentences without such a wish.
    `me` are the words for the speaker."""

    code: str
    polite: str
    everything: tuple[str, ...]
    that: tuple[str, ...]
    stated: tuple[str, ...]
    named: tuple[str, ...]
    denied: str
    me: str


@cache
def wish_patterns(phrases: Phrases) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """The language's patterns with their kinds, the wider kinds first."""
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
