"""Terms of passages are read from PostgreSQL's binary form, all rows at once."""

import struct
from datetime import UTC, datetime
from typing import Any

from sinks.passages.rows import passage_rows

AT = datetime(2026, 3, 2, tzinfo=UTC)


def sent(*terms: int) -> bytes:
    """Encodes terms as `array_send` does: dimensions, NULL flag, type, then length and first index of a dimension."""
    header = struct.pack(">iii", 1 if terms else 0, 0, 23)
    if not terms:
        return header
    return header + struct.pack(">ii", len(terms), 1) + b"".join(struct.pack(">ii", 4, term) for term in terms)


def row(number: int, terms: bytes) -> tuple[Any, ...]:
    return (f"p{number}", "kitchen/ada", "c", f"m{number}", number, AT, "ada", terms)


def test_each_row_is_decoded_with_its_own_terms():
    terms = [(1, -2, 2_147_483_647), (), (-2_147_483_648,)]
    found = passage_rows([row(number, sent(*each)) for number, each in enumerate(terms)])
    assert [tuple(each.terms.tolist()) for each in found] == terms
    assert [each.passage_id for each in found] == ["p0", "p1", "p2"]


def test_no_rows_make_no_passages():
    assert passage_rows([]) == []
