"""Checks of summaries from any provider: one line within the limits, without secrets or instructions."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.engine.sentences import BREAK
from agents.privacy.scrub import storable
from schemas.conversations.windows import LONGEST_SUMMARY
from schemas.policies.policies import Privacy
from streams.windows.tokens.counting import TokenCount

BYTES_PER_TOKEN = 3  # of UTF-8, conservative: English averages 4 to 5, Chinese about 3
SENTENCE_BREAK = re.compile(rf"{BREAK.pattern}|(?<=[。！？])\s*")
ELLIPSIS = "…"
DEFAULT_PRIVACY = Privacy()
# Line breaks are spaces already. Direction overrides could change how a marker looks.
CONTROL_CHARACTERS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]")
# A summary must not close the bracket of its marker; placeholders of secrets are balanced.
BRACKET = re.compile(r"(\[[A-Z_]{2,30}\])|[\[\]]")
ROUND_BRACKETS = {"[": "(", "]": ")"}
ZERO_WIDTH_JOINER = "\u200d"
SKIN_TONES = ("\U0001f3fb", "\U0001f3ff")
FLAG_LETTERS = ("\U0001f1e6", "\U0001f1ff")


def estimated_tokens(text: str) -> int:
    """An upper estimate of a text's tokens by its length, without a tokenizer."""
    return -(-len(text.encode(errors="surrogatepass")) // BYTES_PER_TOKEN)


def fitted_summary(text: str, max_tokens: int, count_tokens: TokenCount, privacy: Privacy = DEFAULT_PRIVACY) -> str:
    """The text as a summary of at most `max_tokens` tokens and LONGEST_SUMMARY characters; empty if nothing is left.

    A longer text is cut after a sentence, otherwise after a word, otherwise after a grapheme. Sentences that address a model
    are left out, since a summary is part of a prompt. What `privacy` removes is removed first.
    """
    line = without_instructions(safe_line(text, privacy))
    if len(line) <= LONGEST_SUMMARY and count_tokens(line) <= max_tokens:
        return line
    head = line[:LONGEST_SUMMARY]
    whole = longest(head, [found.start() for found in SENTENCE_BREAK.finditer(head)], max_tokens, count_tokens)
    return whole or cut_with_ellipsis(head, max_tokens, count_tokens)


def safe_line(text: str, privacy: Privacy) -> str:
    """The text on one line, without control characters, secrets and square brackets."""
    shown = CONTROL_CHARACTERS.sub("", " ".join(text.split()))
    safe = storable(" ".join(shown.split()), privacy)
    return BRACKET.sub(lambda found: found[1] or ROUND_BRACKETS[found[0]], safe)


def without_instructions(line: str) -> str:
    """The line without sentences that address a model."""
    parts = split_sentences(line)
    kept = [part for part in parts if not is_injection(part)]
    return line if len(kept) == len(parts) else " ".join(kept)


def split_sentences(line: str) -> list[str]:
    """The sentences of a text, in all scripts that mark the ends of sentences."""
    return [part for part in SENTENCE_BREAK.split(line) if part]


def cut_with_ellipsis(head: str, max_tokens: int, count_tokens: TokenCount) -> str:
    """The longest beginning that fits with `…`, cut after a word, otherwise after a grapheme."""
    room = max_tokens - count_tokens(ELLIPSIS)
    words = [at for at, character in enumerate(head) if character == " " and at]
    characters = [at for at in range(1, len(head)) if is_boundary(head, at)]
    cut = longest(head, words, room, count_tokens) or longest(head, characters, room, count_tokens)
    return cut and cut.rstrip(" ,;:–-") + ELLIPSIS


def longest(text: str, ends: Sequence[int], max_tokens: int, count_tokens: TokenCount) -> str:
    """The longest beginning of the text that ends at one of the ascending places `ends` and fits; empty if none does."""
    at = bisect_right(ends, max_tokens, key=lambda end: count_tokens(text[:end]))
    # Token counts are not monotonic in the length, so the result of the bisection is checked again.
    while at and count_tokens(text[: ends[at - 1]]) > max_tokens:
        at -= 1
    return text[: ends[at - 1]] if at else ""


def is_boundary(text: str, at: int) -> bool:
    """Whether a grapheme ends at this place: not within a combined character, a flag, or a composed emoji."""
    before, after = text[at - 1], text[at]
    if ZERO_WIDTH_JOINER in (before, after) or unicodedata.category(after).startswith("M"):
        return False
    if SKIN_TONES[0] <= after <= SKIN_TONES[1]:
        return False
    return not all(FLAG_LETTERS[0] <= letter <= FLAG_LETTERS[1] for letter in (before, after))
