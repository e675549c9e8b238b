"""Classifies a memory into a part of the profile, by its wording, kind, tags and importance. Pure."""

import re
from typing import Final

from msgspec import structs

from agents.models.offline.rules.engine.folding import folded
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.lasting_instructions.classifier import MEMORY_LABELS, scores
from agents.models.offline.rules.lasting_instructions.instructions import has_limit, names_state
from agents.models.offline.rules.lasting_instructions.wording import without_remark
from agents.profile import lexicon
from schemas.memories.memories import Memory
from schemas.profile.profiles import Part

# the importance that prompts assign to health, safety and hard constraints in any language
CONSTRAINT_IMPORTANCE: Final = 0.9
LABEL_IMPORTANCE: Final = 0.7  # from this importance on, a loose tag such as "health" means a constraint
# The probability from which a text is a constraint or a wish although no pattern matches. From 0.6 on, 55 of the 69 texts that it
# added of 1,638 statements were neither, such as "User has a tablet"; from 0.9 on, 2 of 10.
MIN_PROBABILITY: Final = 0.9
PASSING_KINDS: Final = frozenset({"plan", "insight"})
LIMIT_LABEL: Final = "constraint"  # the tag of the rules
LASTING_KINDS: Final = frozenset({"fact", "preference"})  # plans and decisions lose relevance


def part_of(memory: Memory) -> Part | None:
    """The part of the profile; None for a memory that prompts need only on demand. Text that addresses a model is in no
    profile. A statement of the assistant or of a tool sets no rule: only a pin puts it into the profile."""
    if is_injection(memory.text) or is_injection(memory.context or ""):
        return None
    if memory.attributed_to is not None:
        return "pinned" if memory.pinned else None
    labels = {label.casefold() for label in (*memory.tags, memory.kind, *memory.kinds)}
    alone = structs.replace(memory, text=without_remark(memory.text))
    part = part_by_text(alone, labels) or part_by_labels(memory, labels)
    return part or ("pinned" if memory.pinned else None)


def part_by_text(memory: Memory, labels: set[str]) -> Part | None:
    """Classifies by the words of the text."""
    if says(memory, lexicon.NAME):
        return "name"
    if says(memory, lexicon.ANSWERING):
        return "wish"
    if is_constraint(memory):
        return "constraint"
    if is_standing_wish(memory):
        return "wish"
    if says(memory, lexicon.SPEAKS):
        return "language"
    return "role" if is_role(memory, labels) else part_by_classifier(memory)


def says(memory: Memory, wording: re.Pattern[str]) -> bool:
    """Whether the text has a wording of the lexicon."""
    return wording.search(folded(memory.text)) is not None


def part_by_classifier(memory: Memory) -> Part | None:
    """Classifies by what a model learnt from sentences, for wording that no pattern has."""
    language = language_of(memory.text, memory.language)
    is_passing = memory.kind in PASSING_KINDS or says(memory, lexicon.UNABLE)
    if language is None or is_passing or is_over(memory) or is_of_others(memory):
        return None
    scored = scores(memory.text, language, MEMORY_LABELS)
    if scored.either < MIN_PROBABILITY:
        return None
    return "constraint" if scored.limit >= scored.wish else "wish"


def is_constraint(memory: Memory) -> bool:
    if memory.kind in PASSING_KINDS:
        return False
    is_unable = says(memory, lexicon.UNABLE)
    if says(memory, lexicon.PROHIBITION) and not is_unable:
        return True
    if says(memory, lexicon.OVER) or is_of_others(memory):
        return False
    return says(memory, lexicon.STATE) or (not is_unable and has_limit(memory.text, memory.language))


def is_of_others(memory: Memory) -> bool:
    """Whether it states something about a person outside the household, which prompts need only on demand."""
    return says(memory, lexicon.OTHERS)


def is_over(memory: Memory) -> bool:
    """Whether a state is denied or has ended: "is no longer vegetarian", and not "has no car", which is a limit."""
    return says(memory, lexicon.OVER) and names_state(memory.text, memory.language)


def is_standing_wish(memory: Memory) -> bool:
    is_wish = says(memory, lexicon.WANTING) and says(memory, lexicon.WITHOUT_EXCEPTION)
    return is_wish and memory.kind not in PASSING_KINDS


def is_role(memory: Memory, labels: set[str]) -> bool:
    if memory.kind == "plan":
        return False
    tagged = not labels.isdisjoint(lexicon.WORK_LABELS) and says(memory, lexicon.IS_A)
    return tagged or says(memory, lexicon.WORKS)


def part_by_labels(memory: Memory, labels: set[str]) -> Part | None:
    """Classifies by kind and tags, for texts that no pattern matches."""
    if says(memory, lexicon.OVER) and (LIMIT_LABEL not in labels or is_over(memory)):
        return None
    loose = memory.importance >= LABEL_IMPORTANCE and not labels.isdisjoint(lexicon.LOOSE_LABELS)
    if loose or not labels.isdisjoint(lexicon.CONSTRAINT_LABELS):
        return "constraint"
    if not labels.isdisjoint(lexicon.WISH_LABELS) and memory.kind != "plan":
        return "wish"
    if not labels.isdisjoint(lexicon.LANGUAGE_LABELS) and memory.importance >= LABEL_IMPORTANCE:
        return "language"
    return "constraint" if memory.importance >= CONSTRAINT_IMPORTANCE and memory.kind in LASTING_KINDS else None
