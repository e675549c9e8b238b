"""Positions of a subscriber in the events of each namespace, encoded for `id:` and `Last-Event-ID`."""

import re
from collections.abc import Collection
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, urlencode

from schemas.errors import Rejected

# The sequence number of the last received event, by namespace.
Positions: TypeAlias = dict[str, int]

MAX_SEQUENCE: Final = 2**63 - 1  # the maximum of PostgreSQL's bigint
SEQUENCE_PATTERN: Final = re.compile(r"[0-9]{1,19}")
MAX_CHARACTERS: Final = 8_000  # characters; servers and proxies limit headers


def format_positions(positions: Positions) -> str:
    """Encodes positions as a URL query such as `kitchen%2Fada=12&kitchen%2Ftom=3`, which is safe in SSE lines and headers."""
    return urlencode(positions)


def fits_in_header(namespaces: Collection[str]) -> bool:
    """Whether `parse_positions` accepts the encoded positions of these namespaces for all sequence numbers."""
    return len(format_positions(dict.fromkeys(namespaces, MAX_SEQUENCE))) <= MAX_CHARACTERS


def parse_positions(text: str) -> Positions:
    """Decodes positions. Raises Rejected `invalid` for text that `format_positions` cannot produce."""
    try:
        pairs = (
            parse_qsl(text[:MAX_CHARACTERS], keep_blank_values=True, strict_parsing=True, errors="strict")
            if text
            else []
        )
        positions = {namespace: int(sequence) for namespace, sequence in pairs if SEQUENCE_PATTERN.fullmatch(sequence)}
    except ValueError as exc:
        raise Rejected("invalid", f"{text[:100]!r} is not the id of an event: {exc}") from exc
    if (
        len(positions) < len(pairs)
        or len(text) > MAX_CHARACTERS
        or not all(0 <= each <= MAX_SEQUENCE for each in positions.values())
    ):
        raise Rejected("invalid", f"{text[:100]!r} is not the id of an event")
    return positions
