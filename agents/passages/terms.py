"""The searchable words of a text as stems, and their hashes. Pure."""

import re
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import Stemmer

# Letters and digits of any script, with an apostrophe and the letters after it ("don't"). Chinese, Japanese and Korean are
# written without spaces: pairs of characters stand for words.
WORD: Final = re.compile(r"[^\W_]+(?:'[a-z]+)?")
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
STOP: Final = frozenset(
    """
    a about also am an and any are as at be been but by can could did do does doing don't for from had has have he her hers him
    his how i i'm if in into is it it's its just ll me my no not of on or our re s she should so some such than that the their
    them then there these they this those to ve was we were what when where which who whom whose why will with would you your
    yours
    """.split()  # noqa: SIM905
)
LONGEST: Final = 40  # characters of a word; longer ones are keys or addresses
QUESTION_WORDS: Final = 64

_STEMMER: Final = Stemmer.Stemmer("english")


def stems(text: str) -> list[str]:
    """The stems of a text, in order. English stemming; words of other languages match by form."""
    words = (word.removesuffix("'s") for word in WORD.findall(text.lower().replace("’", "'")))
    return [stem for word in words if word not in STOP and len(word) <= LONGEST for stem in forms(word)]


def forms(word: str) -> list[str]:
    if UNSPACED.search(word):
        return [word[at : at + 2] for at in range(max(1, len(word) - 1))]
    return [stemmed(word)]


@lru_cache(maxsize=50_000)
def stemmed(word: str) -> str:
    stem: str = _STEMMER.stemWord(word)
    return stem


@lru_cache(maxsize=200_000)
def term(namespace: str, stem: str) -> int:
    """A signed 32-bit hash of namespace and stem. The namespace separates terms in the shared index; two stems of a
    namespace with equal hashes (1 of 4 billion pairs) count as one word."""
    digest = blake2b(f"{namespace}\0{stem}".encode(errors="surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big", signed=True)


def terms(namespace: str, words: list[str]) -> tuple[int, ...]:
    return tuple(term(namespace, word) for word in words)


def question_words(text: str) -> list[str]:
    """The distinct words of a question, in order."""
    return list(dict.fromkeys(stems(text)))[:QUESTION_WORDS]
