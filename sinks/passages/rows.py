"""Passages as ranking looks at them, and how PostgreSQL is asked for them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.passages.passages import PassageFilters
from sinks.postgres.connection import storable

Terms = NDArray[np.int32]
ARRAY_HEADER = (
    20  # bytes that `array_send` puts before the elements of a one-dimensional array; of an empty one all there is
)
ELEMENT = 8


class PassageRow(NamedTuple):
    """What ranking looks at. `terms` are hashes, one for each word that says something; `ordinal` counts messages of the
    conversation."""

    passage_id: str
    namespace: str
    conversation_id: str
    message_id: str
    ordinal: int
    said_at: datetime
    speaker: str
    asks: bool
    terms: Terms


def spaces(namespaces: Collection[str]) -> list[str]:
    return [storable(namespace) for namespace in namespaces]


def arguments(namespaces: Collection[str], filters: PassageFilters) -> tuple[Any, ...]:
    """What is not asked for is NULL."""
    return (
        spaces(namespaces),
        [storable(each) for each in filters.conversations] or None,
        [storable(each) for each in filters.speakers] or None,
        filters.said_from,
        filters.said_to,
    )


def passage_rows(rows: Sequence[Any]) -> list[PassageRow]:
    """The columns are in the order of the fields. There may be thousands of rows, so their terms are converted together."""
    sent = [row[-1][ARRAY_HEADER:] for row in rows]
    terms, found, begin = terms_of(b"".join(sent)), [], 0
    for row, elements in zip(rows, sent, strict=True):
        end = begin + len(elements) // ELEMENT
        found.append(PassageRow._make((*row[:-1], terms[begin:end])))
        begin = end
    return found


def terms_of(elements: bytes) -> Terms:
    """Of PostgreSQL's binary form of integer[], without its header: each element is its length and its value, 4 bytes each."""
    return np.frombuffer(elements, ">i4")[1::2].astype(np.int32)
