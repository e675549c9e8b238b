"""Traits found by the detectors, as bits of one small integer: cheap to store, decode and score.

The age of a message and its distance from the end change with time and are therefore not traits.
"""

from typing import Final

TOOL_CALL: Final = 1 << 0
TOOL_RESULT: Final = 1 << 1
DIRECTIVE: Final = 1 << 2
ERROR: Final = 1 << 3
CORRECTION: Final = 1 << 4
CASUAL: Final = 1 << 5
TASK_COMPLETE: Final = 1 << 6
TASK_BEGINS: Final = 1 << 7
TASK_SWITCHES: Final = 1 << 8  # it begins a task and ends the one before
LASTING: Final = 1 << 9  # a directive that applies beyond its task
GRATEFUL: Final = 1 << 10  # thanks; makes a message casual if it asks nothing; resolved on arrival
SPECIFIC: Final = 1 << 14  # a user states something with a number, a name or many words

NAMES: Final = {
    TOOL_CALL: "tool_call",
    TOOL_RESULT: "tool_result",
    DIRECTIVE: "directive",
    ERROR: "error",
    CORRECTION: "correction",
    CASUAL: "casual",
    TASK_COMPLETE: "task_complete",
    TASK_BEGINS: "task_begins",
    TASK_SWITCHES: "task_switches",
    SPECIFIC: "specific",
}

REFERENCE: Final = 1 << 11  # one reference to an earlier message: three bits from here on are a count
MAX_REFERENCES: Final = 7


def references(traits: int) -> int:
    """How many references to earlier messages were found, at most `MAX_REFERENCES`."""
    return traits // REFERENCE & MAX_REFERENCES


def with_references(traits: int, count: int) -> int:
    """The traits with their count of references replaced."""
    return traits & ~(MAX_REFERENCES * REFERENCE) | min(count, MAX_REFERENCES) * REFERENCE


def names(traits: int) -> tuple[str, ...]:
    """The traits in words, for people: `("directive", "reference")`."""
    found = tuple(name for bit, name in NAMES.items() if traits & bit)
    return (*found, "reference") if references(traits) else found
