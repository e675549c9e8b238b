"""Which part of a profile a memory belongs to, by its wording, kind, tags and importance. Pure."""

from typing import Final

from agents.models.offline.rules.heeded import has_limit
from agents.models.offline.rules.injection import is_injection
from agents.profile import lexicon
from schemas.memories.memories import Memory
from schemas.profile.profiles import Part

HARD: Final = 0.9  # the importance that prompts give to health, safety and hard constraints, in whatever language
WEIGHTY: Final = 0.7  # from here on a loose tag such as "health" means a constraint, and not a remark
LASTING: Final = frozenset({"fact", "preference"})  # plans and decisions pass


def part_of(memory: Memory) -> Part | None:
    """None for what a prompt needs only when it is asked about. What addresses a model is in no profile."""
    if is_injection(memory.text):
        return None
    labels = {label.casefold() for label in (*memory.tags, memory.kind, *memory.kinds)}
    part = stated(memory, labels) or known_by_labels(memory, labels)
    return part or ("pinned" if memory.pinned else None)


def stated(memory: Memory, labels: set[str]) -> Part | None:
    """By the words of the text."""
    text = memory.text
    if lexicon.NAME.search(text):
        return "name"
    if lexicon.ANSWERING.search(text):
        return "wish"
    if is_constraint(memory):
        return "constraint"
    if is_standing_wish(memory):
        return "wish"
    if lexicon.SPEAKS.search(text):
        return "language"
    return "role" if is_role(memory, labels) else None


def is_constraint(memory: Memory) -> bool:
    if lexicon.PROHIBITION.search(memory.text):
        return memory.kind not in ("plan", "insight")
    is_state = lexicon.STATE.search(memory.text) is not None or has_limit(memory.text, memory.language)
    return is_state and lexicon.OVER.search(memory.text) is None and memory.kind not in ("plan", "insight")


def is_standing_wish(memory: Memory) -> bool:
    text = memory.text
    wanted = lexicon.WANTING.search(text) is not None and lexicon.WITHOUT_EXCEPTION.search(text) is not None
    return wanted and memory.kind not in ("plan", "insight")


def is_role(memory: Memory, labels: set[str]) -> bool:
    if memory.kind == "plan":
        return False
    tagged = not labels.isdisjoint(lexicon.WORK_LABELS) and lexicon.IS_A.search(memory.text) is not None
    return tagged or lexicon.WORKS.search(memory.text) is not None


def known_by_labels(memory: Memory, labels: set[str]) -> Part | None:
    """By what rules, models and services say of it, for what no pattern knows."""
    if lexicon.OVER.search(memory.text):
        return None
    loose = memory.importance >= WEIGHTY and not labels.isdisjoint(lexicon.LOOSE_LABELS)
    if loose or not labels.isdisjoint(lexicon.CONSTRAINT_LABELS):
        return "constraint"
    if not labels.isdisjoint(lexicon.WISH_LABELS) and memory.kind != "plan":
        return "wish"
    if not labels.isdisjoint(lexicon.LANGUAGE_LABELS) and memory.importance >= WEIGHTY:
        return "language"
    return "constraint" if memory.importance >= HARD and memory.kind in LASTING else None
