"""How much a memory matters, by rules: its kind, the feelings and people in it, what depends on it, how often it came up."""

from math import log2

from agents.models.offline.rules.weight import CLOSE, DEEP_FEELING, FEELING, TRIFLING, VITAL
from agents.models.port import Subject
from agents.models.prompts.rating import Scored
from schemas.memories import importance

# What a memory of a kind matters as long as nothing else is known of it, as a fraction.
KINDS = {
    "person": 0.55,
    "problem": 0.55,
    "goal": 0.55,
    "decision": 0.55,
    "plan": 0.5,
    "event": 0.5,
    "emotion": 0.5,
    "skill": 0.45,
    "insight": 0.5,
    "location": 0.45,
    "pattern": 0.45,
    "preference": 0.35,
    "interest": 0.4,
}
OTHERWISE = 0.42
VITAL_LEAST = 0.92  # nothing that endangers somebody is below critical
# What is added, and the words of the reason.
WEIGHTS = (
    (VITAL, 0.2, "relevance"),
    (DEEP_FEELING, 0.25, "emotional weight"),
    (FEELING, 0.08, "emotional weight"),
    (CLOSE, 0.12, "relationship"),
    (TRIFLING, -0.25, "a trifle"),
)
ONE_DOUBLING = 0.04  # each time it was said twice as often
MOST_BY_FREQUENCY = 0.16
MOST = 0.999  # the maximum is for people to give


def rated(subject: Subject) -> Scored:
    """The same subject has the same rating."""
    text = f"{subject.text} {subject.context or ''}"
    found = [(added, why) for pattern, added, why in WEIGHTS if pattern.search(text)]
    fraction = max(KINDS.get(kind, OTHERWISE) for kind in (subject.kind, *subject.kinds))
    fraction += sum(added for added, _ in found) + frequency(subject.references)
    if VITAL.search(text):
        fraction = max(fraction, VITAL_LEAST)
    reasons = [f"kind {subject.kind}", *dict.fromkeys(why for _, why in found)]
    if subject.references:
        reasons.append(f"came up {subject.references} times")
    return Scored(points=importance.points(min(max(fraction, 0.0), MOST)), reason=", ".join(reasons))


def frequency(references: int) -> float:
    return min(ONE_DOUBLING * log2(1 + max(references, 0)), MOST_BY_FREQUENCY)
