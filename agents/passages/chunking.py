"""Passages of messages: splits long texts into pieces. Pure."""

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from agents.privacy.scrub import storable
from schemas.policies.policies import Privacy

# Version of chunking and redaction. `memstream reindex` rebuilds passages of other versions.
VERSION: Final = 1
PIECE_WORDS: Final = 200  # per piece
WHOLE_WORDS: Final = 250  # longer texts are split; about as many words as the smallest model reads
MOST_PIECES: Final = 200
SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")


def searchable_text(content: str, privacy: Privacy) -> str:
    """The text that may be embedded, indexed and shown: without what privacy redacts for models or storage."""
    return storable(content, privacy)


@lru_cache
def privacy_mark(privacy: Privacy) -> int:
    """A signed 32-bit hash of a privacy setting and of the redaction rules."""
    return number_of(f"{VERSION} {privacy.before_sending} {' '.join(sorted(privacy.scrub))}")


def pieces(text: str) -> list[str]:
    """The pieces of a text, split at sentences and lines; one for a short text, none for a text without words."""
    if not text.strip():
        return []
    if len(text.split()) <= WHOLE_WORDS:
        return [text.strip()]
    parts = joined(sentence.split() for sentence in SENTENCE_END.split(text))
    if len(parts) > 1 and len(parts[-1]) < PIECE_WORDS // 4:
        last = parts.pop()
        parts[-1] += last
    return [" ".join(part) for part in parts[:MOST_PIECES]]


def joined(sentences: Iterable[list[str]]) -> list[list[str]]:
    """Joins sentences (as words) into pieces of about PIECE_WORDS; an overlong sentence is cut."""
    parts: list[list[str]] = [[]]
    for rest in sentences:
        while len(rest) > WHOLE_WORDS:
            parts += [rest[:PIECE_WORDS], []]
            rest = rest[PIECE_WORDS:]
        if parts[-1] and len(parts[-1]) + len(rest) > PIECE_WORDS:
            parts.append([])
        parts[-1] += rest
    return [part for part in parts if part]


def embedded_text(speaker: str, piece: str) -> str:
    """The text to embed: the speaker's name and the piece."""
    return f"{speaker}: {piece}"


def digest(piece: str) -> int:
    """A signed 32-bit hash of a passage's text, to detect changes."""
    return number_of(piece)


def number_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=4).digest(), "big", signed=True)
