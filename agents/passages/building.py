"""Passages from messages: who speaks, which parts a long text has, and whether it only asks. Pure."""

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from agents.privacy.scrub import storable
from schemas.policies.policies import Privacy

# Of how passages are built, and of what privacy takes out. `memstream reindex` builds those of another version anew.
VERSION: Final = 1
PIECE_WORDS: Final = 200  # of a part
WHOLE_WORDS: Final = 250  # a text of so many words stays whole: about as many as the smallest model reads
MOST_PIECES: Final = 200
SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")


def searchable_text(content: str, privacy: Privacy) -> str:
    """What of a message may be embedded, indexed and shown. What no model is sent is not stored either."""
    return storable(content, privacy)


@lru_cache
def privacy_mark(privacy: Privacy) -> int:
    """Of what is taken out of texts, as a signed 32-bit number: settings, and how they are applied."""
    return number_of(f"{VERSION} {privacy.before_sending} {' '.join(sorted(privacy.scrub))}")


def pieces(text: str) -> list[str]:
    """The parts of a text, broken at sentences and lines; one for a short text, none for one without a word."""
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
    """Sentences, as words, put together to parts of about PIECE_WORDS; a sentence without an end is cut."""
    parts: list[list[str]] = [[]]
    for rest in sentences:
        while len(rest) > WHOLE_WORDS:
            parts += [rest[:PIECE_WORDS], []]
            rest = rest[PIECE_WORDS:]
        if parts[-1] and len(parts[-1]) + len(rest) > PIECE_WORDS:
            parts.append([])
        parts[-1] += rest
    return [part for part in parts if part]


def only_asks(text: str) -> bool:
    """All its sentences are questions: it is seldom the answer."""
    sentences = [sentence.strip() for sentence in SENTENCE_END.split(text) if sentence.strip()]
    return bool(sentences) and all(sentence.endswith(("?", "？")) for sentence in sentences)


def embedded_text(speaker: str, piece: str) -> str:
    """What the embedder reads: who said it belongs to what was said."""
    return f"{speaker}: {piece}"


def digest(piece: str) -> int:
    """Of a passage's text, as a signed 32-bit number: whether it is still what was indexed."""
    return number_of(piece)


def number_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=4).digest(), "big", signed=True)
