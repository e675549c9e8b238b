"""Maps a draft's kind to a kind of the policy's taxonomy, or creates one where the policy allows it."""

import re
from collections.abc import Sequence

from schemas.policies.policies import Policy

MAX_KIND_CHARS = 40  # characters of a kind that a model created
WORDS = re.compile(r"[^\W\d_]+(?:[ _-][^\W\d_]+){0,2}", re.UNICODE)

NEAREST = {
    "fact": ("insight", "note"),
    "preference": ("interest", "fact", "insight"),
    "decision": ("fact", "insight"),
    "plan": ("goal", "event", "decision", "fact"),
    "insight": ("pattern", "fact"),
    "goal": ("plan", "fact"),
    "event": ("plan", "fact"),
    "interest": ("preference", "fact"),
    "pattern": ("insight", "fact"),
    "person": ("fact",),
    "location": ("fact",),
    "skill": ("fact",),
    "problem": ("insight", "fact"),
    "emotion": ("insight",),
    "experience": ("pattern", "insight", "fact"),
}


def nearest(kind: str, allowed: Sequence[str]) -> str | None:
    """`kind` itself if it is allowed, otherwise the first allowed kind that can replace it, otherwise None."""
    wanted = kind.strip().lower()
    names = {name.lower(): name for name in allowed}
    return next((names[name] for name in (wanted, *NEAREST.get(wanted, ())) if name in names), None)


def kind_of(written: str, policy: Policy) -> str | None:
    """The policy's kind for a draft's kind. If there is none and the policy allows new kinds, the draft's own in lower case.

    A new kind has one to three words; None for anything else.
    """
    known = nearest(written, policy.kinds)
    if known is not None or policy.unknown_kinds == "reject":
        return known
    made = " ".join(written.lower().split())
    return made if len(made) <= MAX_KIND_CHARS and WORDS.fullmatch(made) else None
