"""The importance of a memory by rules: its kind, feelings and people, its consequences, and the number of repetitions."""

from math import log2

from agents.models.offline.rules.importance.importance_words import CLOSE, DEEP_FEELING, FEELING, TRIFLING, VITAL
from agents.models.port import MemoryToRate
from agents.models.prompts.rating import PointsWithReason
from schemas.counts import counted
from schemas.extraction import importance

# The importance of a kind without other information, as a fraction.
BY_KIND = {
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
OTHER_KINDS = 0.42
VITAL_LEAST = 0.92  # the minimum for dangers to somebody: critical
# Bonuses, with the words of the reason.
WEIGHTS = (
    (VITAL, 0.2, "relevance"),
    (DEEP_FEELING, 0.25, "emotional weight"),
    (FEELING, 0.08, "emotional weight"),
    (CLOSE, 0.12, "relationship"),
    (TRIFLING, -0.25, "a trifle"),
)
ONE_DOUBLING = 0.04  # for each doubling of the repetitions
MAX_BY_FREQUENCY = 0.16
MAX_IMPORTANCE = 0.999  # only people give the maximum


def rating_by_rules(subject: MemoryToRate) -> PointsWithReason:
    """The rating; the same subject gets the same one."""
    text = f"{subject.text} {subject.context or ''}"
    found = [(added, why) for pattern, added, why in WEIGHTS if pattern.search(text)]
    fraction = max(BY_KIND.get(kind, OTHER_KINDS) for kind in (subject.kind, *subject.kinds))
    fraction += sum(added for added, _ in found) + frequency(subject.references)
    if VITAL.search(text):
        fraction = max(fraction, VITAL_LEAST)
    reasons = [f"kind {subject.kind}", *dict.fromkeys(why for _, why in found)]
    if subject.references:
        reasons.append(f"came up {counted(subject.references, 'times')}")
    return PointsWithReason(
        points=importance.points(min(max(fraction, 0.0), MAX_IMPORTANCE)), reason=", ".join(reasons)
    )


def frequency(references: int) -> float:
    return min(ONE_DOUBLING * log2(1 + max(references, 0)), MAX_BY_FREQUENCY)
