"""Later statements that end a stored memory, and statements that leave it unchanged."""

import pytest

from agents.curation.rules.conflicts.conflicts import conflict
from tests.cases.labelled_pairs import RULE_PAIRS, rule_pairs

SUBJECTS = sorted(path.stem for path in RULE_PAIRS.glob("*.txt"))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_statement_ends_the_memory_that_it_changes(subject: str) -> None:
    assert [pair for pair in rule_pairs("ends", subject) if reason(pair) is None] == []


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_statement_does_not_end_a_compatible_memory(subject: str) -> None:
    assert [(pair, why) for pair in rule_pairs("stays", subject) if (why := reason(pair)) is not None] == []


def test_every_subject_has_pairs() -> None:
    assert all([*rule_pairs("ends", subject), *rule_pairs("stays", subject)] for subject in SUBJECTS)


def reason(pair: tuple[str, str]) -> str | None:
    memory, statement = pair
    return conflict(statement, memory)
