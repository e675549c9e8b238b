"""Recognises a wish that only asks to remember what was said before it: "always keep that in mind".

It is no memory: what it points to is one, and nobody understands the wish without it.
"""

import re
from typing import Final

AROUND: Final = r"(?:please|always|never|from now on|at all times|bitte|immer|nie|stets|siempre|nunca)"
REQUESTS: Final = (
    r"(?:keep|bear) (?:this|that|it|these|those|all (?:this|that|of it)) in mind",
    r"merke? dir das|daran denken|das merken",
    r"no lo olvides",
)
ONLY_TO_REMEMBER: Final = re.compile(
    r"(?:User wants(?: the assistant to)?|Wunsch des Nutzers|Deseo del usuario):? "
    rf"(?:{AROUND},? )*(?:{'|'.join(REQUESTS)})(?:,? {AROUND})*[.!]*",
    re.IGNORECASE,
)


def asks_only_to_remember(text: str) -> bool:
    """Whether the text of a finding is such a wish."""
    return ONLY_TO_REMEMBER.fullmatch(text) is not None
