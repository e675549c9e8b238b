"""Parses a text into the parts that guards compare: words, numbers, times, names, subject, negation."""

import re
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning, stem
from agents.curation.rules.statements.normalise import normalise

ENDED = "⟨ended⟩"
NAME = re.compile(r"(?<=\w[,;:)»”\" ] )(?!\d)[^\W\d_a-zß-öø-ÿ]\w+|(?<=\w )(?!\d)[^\W\d_a-zß-öø-ÿ]\w*")
NEGATED_WORDS = 2  # content words: a verb and its object
REMEMBERED_CHARS = 4_000  # twenty times a memory's usual length; longer texts are not cached
EMPTY = words.FUNCTION_WORDS | words.LIKES | words.DISLIKES | words.NEGATIONS | {ENDED}
NO_NAMES = words.GENERIC_SUBJECTS | words.FUNCTION_WORDS
DIGITS = re.compile(r"[-−]?\d[\d.,:]*(?:(?<=\d)[aeoy]\b)?")
THOUSANDS = re.compile(r"[.,](?=\d{3}(?!\d))")
UNIT = re.compile(r"(?<=\d)(?=[^\W\d])(?![aeoy]\b)")  # 3pm, 5k; "8a" is one word, or its letter would be an article
# Scripts without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese. Each character counts as a word.
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
KANA = re.compile(r"[\u3040-\u30ff]")
UNDERSTOOD_SHARE = 0.25  # share of words in the lists, for a language whose negations and numbers are known
NO_MORE = re.compile(r"\b(?:ne|n) (\w+) plus\b")  # n'aime plus
NO_MORE_GERMAN = re.compile(r"\bkeine?[mnrs]? (\w+) mehr\b")
NO_MORE_OF = re.compile(r"\bno more (?!than\b)")
TIMES = {name: f"month {index}" for line in words.MONTHS for index, name in enumerate(line.split())} | {
    name: f"weekday {index}" for line in words.WEEKDAYS for index, name in enumerate(line.split())
}
SPELT = {
    name: str(value) for line in words.NUMBERS for name, value in zip(line.split(), words.NUMBER_VALUES, strict=True)
} | {name: str(value) for name, value in words.OTHER_NUMBERS.items()}
KNOWN = EMPTY | words.RELATIONS | words.OTHER_TIMES | words.GENERIC_SUBJECTS | TIMES.keys() | SPELT.keys()


class Statement(Struct, frozen=True, kw_only=True):
    """The parsed text. `content` are the stems of its content words, in order."""

    tokens: tuple[str, ...]
    content: tuple[str, ...]
    subject: str | None
    names: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...]  # (number, the word it counts)
    times: frozenset[str]
    arranged: tuple[str, ...]  # the tokens, with listed items (`Bob and Anna`) in alphabetical order
    scope: frozenset[str]  # the classes of words.SCOPES
    wish: bool
    relations: frozenset[str]
    negated: frozenset[str] | None  # the negated words; None without a negation
    denied: bool  # denied by a verb: `failed to`, `pretends to`
    ended: bool
    disliked: bool
    preference: bool
    understood: bool  # the language's negations, numbers and function words are listed
    unspaced: bool  # the script has no spaces, so word order cannot be compared

    @property
    def negative(self) -> bool:
        """Whether the statement is negative: "does not avoid" is as positive as "likes"."""
        return (self.negated is not None) != self.disliked

    @property
    def quantities(self) -> frozenset[str]:
        return frozenset(number for number, _ in self.numbers)


def statement(text: str) -> Statement:
    """The parsed text. Caches recent ones: a candidate is compared with several neighbours, and they with several
    candidates."""
    return cached_statement(text) if len(text) <= REMEMBERED_CHARS else parse_statement(text)


@lru_cache(maxsize=1_024)
def cached_statement(text: str) -> Statement:
    return parse_statement(text)


def parse_statement(text: str) -> Statement:
    tokens = with_endings(normalise(text))
    present, said_at = frozenset(tokens), times(tokens)
    return Statement(
        tokens=tokens,
        content=content(tokens),
        subject=subject(tokens),
        names=names(text),
        numbers=numbers(tokens),
        times=said_at,
        arranged=arranged(tokens),
        scope=scope(present, said_at),
        wish=bool(present & words.WISHES),
        relations=frozenset(map(meaning, present & words.RELATIONS)),
        negated=negated(tokens) if present & words.NEGATIONS else None,
        denied=bool(present & words.DENIALS),
        ended=ENDED in present or bool(present & words.ENDINGS),
        disliked=bool(present & words.DISLIKES),
        preference=bool(present & (words.LIKES | words.DISLIKES)),
        understood=is_supported_language(text, tokens),
        unspaced=UNSPACED.search(text) is not None,
    )


def is_supported_language(text: str, tokens: tuple[str, ...]) -> bool:
    """Whether enough words are known. Japanese shares characters with Chinese, but not words."""
    known = sum(token in KNOWN or number(token) is not None for token in tokens)
    return known >= UNDERSTOOD_SHARE * len(tokens) and KANA.search(text) is None


def with_endings(normalised: str) -> tuple[str, ...]:
    """The words with phrases in one form. "no longer" and the like become one word, so that "no" negates nothing; "3pm"
    becomes two."""
    for phrase, instead in words.CHINESE.items():
        normalised = normalised.replace(phrase, instead)
    apart = UNSPACED.sub(r" \g<0> ", normalised)
    text = NO_MORE_OF.sub(f"{ENDED} ", NO_MORE.sub(rf"{ENDED} \1", f" {UNIT.sub(' ', apart)} "))
    text = NO_MORE_GERMAN.sub(rf"{ENDED} \1", text)
    for phrase, instead in words.PHRASES.items():
        text = text.replace(f" {phrase} ", f" {instead} ")
    for phrase in words.ENDING_PHRASES:
        text = text.replace(f" {phrase} ", f" {ENDED} ")
    return tuple(text.split())


def content(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Content words without numbers, which are compared by value, and verbs of liking, which are compared by direction."""
    return tuple(meaning(token) for token in tokens if is_content(token))


def is_content(token: str) -> bool:
    return token not in EMPTY and number(token) is None


def subject(tokens: tuple[str, ...]) -> str | None:
    """The first word after articles; None for "the user"."""
    first = next((token for token in tokens if token not in words.ARTICLES), None)
    return None if first is None or first in words.GENERIC_SUBJECTS else first


def names(text: str) -> tuple[str, ...]:
    """Capitalised words within a sentence, in order. In German these are all nouns, so guards object more often.

    A single capital is a name (blood type A), except "I". Scripts without capitals have no names.
    """
    found = (name.group() for name in NAME.finditer(text) if name.group()[0].isupper())
    return tuple(normalise(name) for name in found if is_name(name, normalise(name)))


def is_name(capitalised: str, normalised: str) -> bool:
    if len(capitalised) == 1:
        return capitalised != "I"
    return normalised not in NO_NAMES and normalised not in TIMES


def numbers(tokens: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Numbers as digits or words ("1,000" equals "1000"), each with the word after it."""
    followed = pairwise((*tokens, ""))
    return tuple((value, stem(after)) for token, after in followed if (value := number(token)) is not None)


def number(token: str) -> str | None:
    digits = DIGITS.search(token)
    return THOUSANDS.sub("", digits.group()) if digits else SPELT.get(token)


def scope(present: frozenset[str], said_at: frozenset[str]) -> frozenset[str]:
    """The classes of restricting words. "may" is one of them unless it is a month."""
    months = words.AMBIGUOUS if said_at else frozenset[str]()
    return frozenset(name for name, listed in words.SCOPES.items() if (present - months) & listed)


def arranged(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The words with the neighbours of each "and" and the like in alphabetical order."""
    ordered = list(tokens)
    for place in range(1, len(ordered) - 1):
        if ordered[place] in words.LISTED and ordered[place - 1] > ordered[place + 1]:
            ordered[place - 1], ordered[place + 1] = ordered[place + 1], ordered[place - 1]
    return tuple(ordered)


def times(tokens: tuple[str, ...]) -> frozenset[str]:
    """Months and weekdays, the same in any language, and other words for times."""
    beside = [
        (before, token, after) for before, token, after in zip(("", *tokens), tokens, (*tokens[1:], ""), strict=False)
    ]
    named = {
        TIMES[token]
        for before, token, after in beside
        if token in TIMES
        and (token not in words.AMBIGUOUS or number(before) or number(after) or before in words.BEFORE_A_MONTH)
    }
    return frozenset(named | (set(tokens) & words.OTHER_TIMES))


def negated(tokens: tuple[str, ...]) -> frozenset[str]:
    """The stems of the first words after each negation."""
    found: set[str] = set()
    following: tuple[str, ...] = ()
    for token in reversed(tokens):
        if token in words.NEGATIONS:
            found.update(following)
        elif is_content(token):
            following = (meaning(token), *following)[:NEGATED_WORDS]
    return frozenset(found)
