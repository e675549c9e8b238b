"""Phrases of wishes to forget, in the languages with rules. `wishes` applies them.

Kinds: `that` refers to the words just before. `stated` does too, but only if they state something: in a chat about code "delete
that" means a line. `named` has a `topic` (a noun) or a `clause` (a statement). So has `fact` ("erase my birthday"), which is none
about a text just shown, and `unasked` ("don't remember my salary"), which may answer a question. `everything` is all about the
speaker. Idioms that only change the subject ("forget it", "vergiss es", "olvídalo") are left out, and so are words that delete
other things.
"""

import re
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["everything", "that", "stated", "named", "fact", "unasked"]

GAP = r"[\s,.!:;–—-]{1,4}"
THANKS = r"(?:please|pl[sz]|thanks|thank you|thx|bitte|danke|merci|s'il (?:te|vous) pla[iî]t|stp|svp|gracias|por ?fa(?:vor)?)"
END = rf"(?=\s*(?:$|[.!?,;:)–—]|{THANKS}\b))"
ANY = r"(?:[^.!?;:–—]|[.:](?=\w))"  # within one clause; punctuation inside a number or an address does not end it
# Words that limit a wish: "forget my old job, the rest is fine".
OTHERS = (
    r"(?:but |aber |mais |pero )?(?:keep |behalt\w* |garde[zr]? |guarda )?"
    r"(?:(?:all )?the rest|everything else|(?:de[rn]|das) rest|alles andere|(?:tout )?le reste|el resto|(?:todo )?lo demás)\b"
)
REST = rf"{ANY}{{1,200}}?(?=\s*(?:$|[!?;–—]|[.:](?!\w)|,? {THANKS}\b|,\s*{OTHERS}))"


class Phrases(Struct, frozen=True):
    """The phrases of one language. Every pattern may follow `polite` words. `denied` marks sentences without such a wish.
    `me` are the words for the speaker, `memory` those for the assistant's memory behind a topic ("from your memory"). A topic
    with another place (`elsewhere`: "from the slides") is a task, unless it is about what was said or is known."""

    code: str
    polite: str
    everything: tuple[str, ...]
    that: tuple[str, ...]
    stated: tuple[str, ...]
    named: tuple[str, ...]
    denied: str
    me: str
    memory: str
    elsewhere: str
    facts: tuple[str, ...]
    unasked: tuple[str, ...] = ()


@cache
def wish_patterns(phrases: Phrases) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """The language's patterns with their kinds, the wider kinds first."""
    kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("everything", phrases.everything),
        ("that", phrases.that),
        ("stated", phrases.stated),
        ("named", phrases.named),
        ("fact", phrases.facts),
        ("unasked", phrases.unasked),
    )
    return tuple(
        (kind, re.compile(f"[¿¡]?(?:{phrases.polite}){each}", re.IGNORECASE))
        for kind, listed in kinds
        for each in listed
    )
