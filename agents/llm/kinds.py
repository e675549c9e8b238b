"""Finds the kind of a policy's taxonomy that comes nearest to one it does not have."""

from collections.abc import Sequence

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
}


def nearest(kind: str, allowed: Sequence[str]) -> str | None:
    """`kind` itself where it is allowed, else the first allowed one that can stand for it, else None."""
    wanted = kind.strip().lower()
    names = {name.lower(): name for name in allowed}
    return next((names[name] for name in (wanted, *NEAREST.get(wanted, ())) if name in names), None)
