import ast
from pathlib import Path

import pytest

from sinks.postgres import queries
from sinks.postgres.queries import query, statements

SINKS = Path(queries.__file__).parents[1]


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


def mentioned() -> tuple[set[str], tuple[str, ...]]:
    """Every text in the code, whole, and how those begin that are put together there."""
    nodes = [node for path in SINKS.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    whole = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    begun = (node.values[0] for node in nodes if isinstance(node, ast.JoinedStr))
    return whole, tuple(part.value for part in begun if isinstance(part, ast.Constant) and part.value.isidentifier())


def test_every_sql_statement_is_used() -> None:
    whole, begun = mentioned()
    written = {name for path in SINKS.glob("*/*.sql") for name in statements(path.read_text())}
    assert [name for name in sorted(written - whole) if not name.startswith(begun)] == []


def test_an_unknown_statement_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        query("memories", "no such thing")


def test_a_statement_ends_at_the_next_name_comment() -> None:
    text = "-- name: one\nSELECT 1\n\n-- name: two\n-- why\nSELECT 2\n"
    assert statements(text) == {"one": "SELECT 1", "two": "-- why\nSELECT 2"}
