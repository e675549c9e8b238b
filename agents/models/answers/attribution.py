"""Statements of the assistant or a tool: stored as theirs, and only about facts, never about a person."""

import re
from collections.abc import Sequence
from typing import Final

from agents.models.answers.speakers import is_of_user
from agents.models.answers.texts import UnusableText
from agents.models.offline.rules.engine.injection import is_injection
from schemas.extraction.requests import SliceMessage
from schemas.policies.policies import Policy

MAX_CONFIDENCE: Final = 0.8  # the highest confidence of such a statement: no user said it
# "User authentication runs on port 80" is about software, "User runs in the morning" about a person.
OF_SOFTWARE: Final = re.compile(
    r"(?:the )?user [a-z]+ (?:is|was|are|has|uses|runs|lives|needs|stores|reads|calls)\b", re.IGNORECASE
)
OF_A_PERSON: Final = re.compile(
    r"\b(?:the )?user(?:['’]s\b| (?:is|was|has|had|does|did|likes|loves|hates|prefers|wants|lives|works|owns|eats|feels|believes"
    r"|plans|moved|uses|speaks|knows|enjoys|needs|said|says|decided|will|would|can|cannot|should|also|never|always)\b)",
    re.IGNORECASE,
)


def check_attributed(text: str, sources: Sequence[SliceMessage], policy: Policy) -> None:
    """Checks a statement of the assistant or a tool, under a policy that stores these.

    Raises UnusableText: `provenance` for a statement about a person or an unwanted one, `instruction` if one of the messages
    addresses a model.
    """
    if not policy.attributed or any(source.role == "system" for source in sources):
        raise UnusableText("provenance")
    if any(is_injection(source.content) for source in sources):
        raise UnusableText("instruction")
    if OF_A_PERSON.search(text) or (is_of_user(text) and not OF_SOFTWARE.match(text)):
        raise UnusableText("provenance")
