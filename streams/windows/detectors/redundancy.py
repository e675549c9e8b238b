"""Detects redundant messages: a later message of the same role has the same text, such as a file read twice."""

from collections.abc import Iterable
from typing import Final, Protocol
from zlib import crc32

from streams.windows.detectors.cleaning import inspected

MIN_CHARS: Final = 24  # short texts such as "yes" repeat without being redundant


class Fingerprinted(Protocol):
    """The fields of a message that redundancy needs."""

    @property
    def role(self) -> str: ...
    @property
    def fingerprint(self) -> int: ...


def fingerprint(text: str, clean: bytes) -> int:
    """32 bits that equal texts share, whatever their case and punctuation; 0 for a short one.

    `clean` is the cleaned form, in bytes, of what is inspected of `text`. A long text counts by its start, its end and its
    length. Two texts of one window that differ are taken for equal with a probability below 1 in 10,000 (500 messages).
    """
    if len(text) < MIN_CHARS:
        return 0
    if text.isascii():
        return crc32(clean, len(text)) or 1
    return crc32(inspected(text).encode("utf-8", "surrogatepass"), len(text)) or 1


def redundant(messages: Iterable[Fingerprinted]) -> set[int]:
    """The places (from 0) of messages that a later one repeats."""
    latest: dict[tuple[str, int], int] = {}
    repeated: set[int] = set()
    for place, message in enumerate(messages):
        if message.fingerprint:
            said = (message.role, message.fingerprint)
            if said in latest:
                repeated.add(latest[said])
            latest[said] = place
    return repeated
