"""Finds the kind of a policy's taxonomy that a draft's kind stands for, or makes one where the policy lets unknown ones in."""

import re
from collections.abc import Sequence

from schemas.policies.policies import Policy

LONGEST = 40  # characters of a kind that a model made up
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
    """`kind` itself where it is allowed, else the first allowed one that can stand for it, else None."""
    wanted = kind.strip().lower()
    names = {name.lower(): name for name in allowed}
    return next((names[name] for name in (wanted, *NEAREST.get(wanted, ())) if name in names), None)


def kind_of(written: str, policy: Policy) -> str | None:
    """The policy's kind that stands for what a draft says; else, if the policy creates kinds, what it says, in lower case.

    One word, or up to three: anything else is no kind. None where it is none.
    """
    known = nearest(written, policy.kinds)
    if known is not None or policy.unknown_kinds == "reject":
        return known
    made = " ".join(written.lower().split())
    return made if len(made) <= LONGEST and WORDS.fullmatch(made) else None
