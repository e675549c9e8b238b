"""Gold statements: words that decide whether a memory says something, without a judge. Pure."""

import re
import unicodedata
from functools import cache, cached_property
from typing import Final, NamedTuple

WHO: Final = re.compile(r"([\w.-]+): +(.+)", re.DOTALL)
SUBJECTS: Final = "user|nutzer|utilisat|usuari|i|i'm|i've|my|ich|mein|je|j'ai|mon|ma|yo|mi"
SEPARATORS: Final = re.compile(r"(?<=\d)[\s\-./(),]+(?=\d)")
LONG_NUMBER: Final = 5  # digits, from which on spaces and dashes between them do not count
SHORT: Final = 2  # letters, up to which a term is a whole word


class Statement(NamedTuple):
    """Terms that must all be there, none of those behind `!`, in the memory of `who`.

    `lyon live|moved !visit`: `|` parts alternatives, `_` stands for a space, `*` begins a term that may stand inside a word.
    A term is the beginning of a word; one of two letters or a number is a whole one. `user` is the person of the memory.
    """

    who: str
    terms: tuple[str, ...]

    @classmethod
    def read(cls, written: str, who: str) -> "Statement":
        named = WHO.match(written)
        return cls(named[1], tuple(named[2].split())) if named else cls(who, tuple(written.split()))

    def says(self, text: str, names: str = "") -> bool:
        """Whether a text says it; `names` are further words for the person, with `|` between them."""
        folded_text = folded(text)
        return all(
            any(found(each, folded_text, names) for each in term.removeprefix("!").split("|")) != term.startswith("!")
            for term in self.terms
        )

    def __str__(self) -> str:
        return f"{self.who}: {' '.join(self.terms)}"


class Text:
    """A text as terms are looked for in it."""

    def __init__(self, text: str) -> None:
        self.plain = fold(text)

    @cached_property
    def digits(self) -> str:
        """Without what stands between digits."""
        return SEPARATORS.sub("", self.plain)


@cache
def folded(text: str) -> Text:
    return Text(text)


def fold(text: str) -> str:
    """Small letters without accents."""
    parts = unicodedata.normalize("NFD", text.casefold().replace("’", "'"))
    return "".join(char for char in parts if not unicodedata.combining(char))


def found(term: str, text: Text, names: str) -> bool:
    if term == "user":
        return any(found(each, text, "") for each in f"{SUBJECTS}|{names}".split("|") if each != "user") or bool(
            re.search(r"(?<!\w)user", text.plain)
        )
    if len(re.sub(r"\D", "", term)) >= LONG_NUMBER and not re.search("[a-z]", term):
        return SEPARATORS.sub("", term) in text.digits
    return bool(pattern(term).search(text.plain))


@cache
def pattern(term: str) -> re.Pattern[str]:
    words = re.escape(fold(term.lstrip("*")).replace("_", " "))
    if term.startswith("*"):
        return re.compile(words)
    if term.isdigit():
        return re.compile(rf"(?<!\d)0*{words}(?!\d)")
    whole = r"(?!\w)" if len(term) <= SHORT else ""
    return re.compile(rf"(?<!\w){words}{whole}")
