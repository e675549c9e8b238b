"""Pairs of a stored memory and a later statement: which of them end the memory, and which leave it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.curation.rules.conflicts import conflict

PAIRS = Path(__file__).with_name("pairs")


def pairs(section: str) -> Iterator[tuple[str, str]]:
    """Memory and statement of the lines `memory | statement` below `[section]`, of all files. Lines with `#` are comments."""
    for path in sorted(PAIRS.glob("*.txt")):
        current = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                current = line
            elif current == f"[{section}]" and not line.startswith("#"):
                memory, statement = line.split(" | ")
                yield memory, statement


@pytest.mark.parametrize(("memory", "statement"), list(pairs("ends")))
def test_a_statement_ends_the_memory_that_it_changes(memory: str, statement: str) -> None:
    assert conflict(statement, memory) is not None


@pytest.mark.parametrize(("memory", "statement"), list(pairs("stays")))
def test_a_statement_leaves_the_memory_that_may_hold_beside_it(memory: str, statement: str) -> None:
    assert conflict(statement, memory) is None
