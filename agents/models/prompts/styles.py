"""Extraction styles by kind of conversation: set by the policy, or by the conversation's mode."""

from typing import Final

from schemas.policies.policies import Policy, Style

BY_STYLE: Final[dict[Style, str]] = {
    "neutral": "Style: a conversation with an assistant. Weigh facts, preferences, decisions and plans alike.",
    "support": (
        "Style: customer support. Look for the product and plan the user has, what went wrong and what solved it, what was "
        "promised to them by when, how they want to be served. What the user was told is worth remembering only if they "
        "accepted it."
    ),
    "coding": (
        "Style: work on software. Look for decisions with their reasons, conventions, tools and versions, where things are "
        "and how they are run, recurring workflows, errors with their causes and fixes. Leave out code, logs and steps of the "
        "task at hand."
    ),
    "companion": (
        "Style: a companion's conversation. Look for the people in the user's life and what they are to them, events and "
        "dates, joys, worries, hopes, goals and problems, interests, places."
    ),
}
FEELINGS: Final = (
    "Feelings matter here: if the user says or plainly shows how they feel about what they tell, the text says it too, in "
    "their words. Never guess a feeling."
)
# Modes of chat services by style.
BY_MODE: Final[dict[str, Style]] = {
    "support": "support",
    "helpdesk": "support",
    "service": "support",
    "coding": "coding",
    "code": "coding",
    "developer": "coding",
    "agent": "coding",
    "companion": "companion",
    "friend": "companion",
    "coach": "companion",
}


def style_of(policy: Policy, mode: str | None) -> Style:
    """The policy's style; under `by_mode` the style of the conversation's mode, otherwise neutral."""
    if policy.style != "by_mode":
        return policy.style
    return BY_MODE.get((mode or "").strip().lower(), "neutral")


def style_part(policy: Policy, mode: str | None) -> str:
    """The prompt's instruction for the style, and for feelings if the policy wants them."""
    instruction = BY_STYLE[style_of(policy, mode)]
    return f"{instruction} {FEELINGS}" if policy.feelings else instruction
