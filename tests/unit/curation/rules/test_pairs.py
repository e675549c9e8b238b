"""Later statements that end a stored memory, and statements that leave it unchanged."""

import pytest

from agents.curation.rules.conflicts.conflicts import conflict
from tests.labelled_pairs import rule_pairs


@pytest.mark.parametrize(("memory", "statement"), list(rule_pairs("ends")))
def test_a_statement_ends_the_memory_that_it_changes(memory: str, statement: str) -> None:
    assert conflict(statement, memory) is not None


@pytest.mark.parametrize(("memory", "statement"), list(rule_pairs("stays")))
def test_a_statement_does_not_end_a_compatible_memory(memory: str, statement: str) -> None:
    assert conflict(statement, memory) is None
