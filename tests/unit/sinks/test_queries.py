import ast
from pathlib import Path

import pytest

from sinks import queries
from sinks.queries import query, statements

SINKS = Path(queries.__file__).parent


def used() -> set[tuple[str, str]]:
    """Every `query("noun", "name")` in the code."""
    calls = (
        node
        for path in SINKS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "query"
    )
    literals = ([arg.value for arg in call.args if isinstance(arg, ast.Constant)] for call in calls)
    return {(str(pair[0]), str(pair[1])) for pair in literals if len(pair) == 2}


def test_every_statement_the_code_names_exists() -> None:
    assert len(used()) > 20
    for noun, name in used():
        assert query(noun, name)


def test_no_statement_is_left_over() -> None:
    written = {(path.stem, name) for path in (SINKS / "sql").glob("*.sql") for name in statements(path.read_text())}
    passed_on = {("memories", name) for name in ("by_ids", "live_by_text", "in_namespace", "live", "expired")}
    assert written - used() == passed_on


def test_an_unknown_statement_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        query("memories", "no such thing")


def test_a_name_runs_to_the_next_one() -> None:
    text = "-- name: one\nSELECT 1\n\n-- name: two\n-- why\nSELECT 2\n"
    assert statements(text) == {"one": "SELECT 1", "two": "-- why\nSELECT 2"}
