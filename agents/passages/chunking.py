"""Passages of messages: splits long texts into pieces. Pure."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Final, TypeAlias, get_args

from agents.passages.terms import UNSPACED
from agents.privacy.scrub import storable
from schemas import ids
from schemas.policies.policies import PersonalKind, Privacy

Chunk: TypeAlias = tuple[str, int]  # a text and its size in words

# Version of chunking, terms, embedded texts and redaction. `memstream reindex` rebuilds passages of other versions, but of
# EQUAL_VERSIONS only those whose text or names differ: their terms and vectors are made in the same way.
VERSION: Final = 2
EQUAL_VERSIONS: Final = frozenset({1})
REDACTION_VERSION: Final = 1  # of the rules in agents.privacy; another one makes every privacy mark outdated
PIECE_WORDS: Final = 200  # per piece
WHOLE_WORDS: Final = 250  # longer texts are split; about as many words as the smallest model reads
MOST_PIECES: Final = 200
SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
# The same ends, each with the character before it. It begins with a set of characters, which makes it seven times as fast.
FAST_SENTENCE_END: Final = re.compile(r"[.!?\n。！？](?:(?<=[.!?])\s+|(?<=\n)\n*|(?<=[。！？])\s*)")
# Scripts without spaces between words: also Thai, Lao, Myanmar and Khmer, and rare Chinese characters.
SPACELESS: Final = re.compile(
    rf"{UNSPACED.pattern}|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
SPACELESS_CHARS: Final = 2  # per word
BLOB_FROM: Final = 100  # characters of a run without white space that is no word: encoded data, a long address
BLOB_CHARS: Final = 8  # per word of such a run
RUN: Final = re.compile(r"(\s*)(\S+)")
RUN_WORDS: Final = 10  # words after which a longer run may be cut
ALL_PRIVATE: Final = Privacy(scrub=get_args(PersonalKind))


def searchable_text(content: str, privacy: Privacy) -> str:
    """The text that may be embedded, indexed and shown: without what privacy redacts for models or storage."""
    return storable(content, privacy)


@lru_cache
def privacy_mark(privacy: Privacy) -> int:
    """A signed 32-bit hash of a privacy setting and of the redaction rules."""
    return number_of(f"{REDACTION_VERSION} {privacy.before_sending} {' '.join(sorted(privacy.scrub))}")


def pieces(text: str) -> list[str]:
    """The first MOST_PIECES pieces of a text, which are indexed; none for a text without words."""
    return all_pieces(text)[:MOST_PIECES]


def all_pieces(text: str) -> list[str]:
    """The pieces of a text, split at sentences and lines; one for a short text. A piece has its words in order, with single
    spaces where the text has any white space."""
    if not text.strip():
        return []
    if len(text) <= WHOLE_WORDS * SPACELESS_CHARS or size_in_words(text) <= WHOLE_WORDS:
        return [text.strip()]
    parts = joined(chunk for sentence in sentences(text) for chunk in cut(sentence))
    if len(parts) > 1 and size_in_words(parts[-1]) < PIECE_WORDS // 4:
        last = parts.pop()
        parts[-1] += last
    return [" ".join(part.split()) for part in parts]


def size_in_words(text: str) -> int:
    """The number of words. Two characters of a script without spaces count as a word, as do eight characters of a blob."""
    runs = text.split()
    has_blobs = len(text) > BLOB_FROM and max(map(len, runs), default=0) > BLOB_FROM
    if not has_blobs and (text.isascii() or not SPACELESS.search(text)):
        return len(runs)
    return sum(map(words_in, runs))


def words_in(run: str) -> int:
    by_length = len(run) // BLOB_CHARS if len(run) > BLOB_FROM else 1
    return max(by_length, len(SPACELESS.findall(run)) // SPACELESS_CHARS)


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text, each with the white space behind it."""
    start = 0
    for end in FAST_SENTENCE_END.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]


def cut(sentence: str) -> Iterator[Chunk]:
    """The sentence; an overlong one in chunks of about PIECE_WORDS."""
    if (size := size_in_words(sentence)) <= WHOLE_WORDS:
        yield sentence, size
        return
    runs = list(short_runs(sentence))
    chunk, words, rest = list[str](), 0, sum(size for _, size in runs)
    for run, size in runs:
        if words + size > PIECE_WORDS and words + rest > WHOLE_WORDS:
            yield sized("".join(chunk))
            chunk, words = [], 0
        chunk.append(run)
        words, rest = words + size, rest - size
    yield sized(f"{''.join(chunk)} ")


def sized(text: str) -> Chunk:
    return text, size_in_words(text)


def short_runs(sentence: str) -> Iterator[tuple[str, int]]:
    """The runs of a sentence, each with the white space before it and its number of words. Long runs are cut."""
    for space, run in RUN.findall(sentence):
        words = words_in(run)
        step = len(run) * RUN_WORDS // max(words, RUN_WORDS)
        for start in range(0, len(run), step):
            part = run[start : start + step]
            yield (part if start else space + part), max(min(words, RUN_WORDS), words_in(part))


def joined(chunks: Iterable[Chunk]) -> list[str]:
    """Joins successive chunks into parts of about PIECE_WORDS."""
    parts, words = list[str](), 0
    for chunk, size in chunks:
        if not size:
            continue
        if parts and words + size <= PIECE_WORDS:
            parts[-1] += chunk
            words += size
        else:
            parts.append(chunk)
            words = size
    return parts


def embedded_text(speaker: str, piece: str) -> str:
    """The text to embed: the speaker's name and the piece."""
    return f"{speaker}: {piece}"


def digest(piece: str) -> int:
    """A signed 32-bit hash of a passage's text, to detect changes."""
    return number_of(piece)


def source_digest(speaker: str, name: str, piece: str) -> int:
    """A signed 32-bit hash of all that a passage's vector and terms are made of: the speaker's id and name, and the text."""
    return number_of(f"{speaker}\0{name}\0{piece}")


def number_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=4).digest(), "big", signed=True)


def piece_id(namespace: str, conversation_id: str, message_id: str, number: int) -> str:
    """The id of the passage that a piece of a message is in a namespace."""
    return ids.derive("passage", namespace, conversation_id, message_id, number)
