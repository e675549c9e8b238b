"""Passages as ranking sees them, and the parameters of their queries."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.passages.passages import PassageFilters
from sinks.postgres.connection import storable

Terms = NDArray[np.int32]
# bytes of the header of `array_send` for a one-dimensional array; all bytes of an empty one
ARRAY_HEADER = 20
ELEMENT = 8


class PassageRow(NamedTuple):
    """The input of ranking. `terms` are hashes, one for each indexed word; `ordinal` numbers the messages of the
    conversation."""

    passage_id: str
    namespace: str
    conversation_id: str
    message_id: str
    ordinal: int
    said_at: datetime
    speaker: str
    terms: Terms


def spaces(namespaces: Collection[str]) -> list[str]:
    return [storable(namespace) for namespace in namespaces]


def arguments(namespaces: Collection[str], filters: PassageFilters) -> tuple[Any, ...]:
    """The parameters of a query; unused filters are NULL."""
    return (
        spaces(namespaces),
        [storable(each) for each in filters.conversations] or None,
        [storable(each) for each in filters.speakers] or None,
        filters.said_from,
        filters.said_to,
    )


def passage_rows(rows: Sequence[Any]) -> list[PassageRow]:
    """Converts rows, whose columns are in the order of the fields. Thousands of rows are common, so their terms are
    converted together."""
    sent = [row[-1][ARRAY_HEADER:] for row in rows]
    terms, found, begin = terms_of(b"".join(sent)), [], 0
    for row, elements in zip(rows, sent, strict=True):
        end = begin + len(elements) // ELEMENT
        found.append(PassageRow._make((*row[:-1], terms[begin:end])))
        begin = end
    return found


def terms_of(elements: bytes) -> Terms:
    """Reads PostgreSQL's binary integer[] without its header: 4 bytes of length and 4 bytes of value for each element."""
    return np.frombuffer(elements, ">i4")[1::2].astype(np.int32)
