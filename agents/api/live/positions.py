"""Positions of a subscriber in each namespace's events, as one line for `id:` and `Last-Event-ID`."""

import re
from collections.abc import Collection
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, urlencode

from schemas.errors import Rejected

# The sequence up to which everything is known, by namespace.
Positions: TypeAlias = dict[str, int]

LARGEST: Final = 2**63 - 1  # that PostgreSQL's bigint holds
DIGITS: Final = re.compile(r"[0-9]{1,19}")
LONGEST: Final = 8_000  # characters; what servers and proxies take of a header


def format_positions(places: Positions) -> str:
    """For example `kitchen%2Fada=12&kitchen%2Ftom=3`: the text cannot break a line or a header."""
    return urlencode(places)


def fits_in_header(namespaces: Collection[str]) -> bool:
    """Whether `parse_positions` accepts positions in these namespaces, whatever the sequences."""
    return len(format_positions(dict.fromkeys(namespaces, LARGEST))) <= LONGEST


def parse_positions(text: str) -> Positions:
    """Raises Rejected `invalid` for text that `format_positions` cannot have written."""
    try:
        pairs = parse_qsl(text[:LONGEST], keep_blank_values=True, strict_parsing=True, errors="strict") if text else []
        places = {namespace: int(sequence) for namespace, sequence in pairs if DIGITS.fullmatch(sequence)}
    except ValueError as exc:
        raise Rejected("invalid", f"{text[:100]!r} is no id of an event: {exc}") from exc
    if len(places) < len(pairs) or len(text) > LONGEST or not all(0 <= each <= LARGEST for each in places.values()):
        raise Rejected("invalid", f"{text[:100]!r} is no id of an event")
    return places
