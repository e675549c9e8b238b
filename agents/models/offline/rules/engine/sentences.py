"""Splits a message into the speaker's own sentences: code, quotations, pasted logs and data are left out."""

import re
from typing import Final

FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
INLINE_CODE = re.compile(r"`([^`\n]*)`")
# `[^\S\n]` is white space within a line: `\s` would match across many empty lines from each of them (quadratic time).
QUOTED_LINE = re.compile(r"^[^\S\n]*+[>|].*$", re.MULTILINE)
# A short quotation is a name or a title; a long one is a statement.
QUOTATION = re.compile(r"[\"“„«]([^\"“”„«»\n]{1,400})[\"”“»]")
DATA_LINE = re.compile(
    r"^\s*(?:[{\[<]|Traceback \(|File \"|at \S+\(|\d{4}-\d\d-\d\d[T ]\d\d:|\[?(?:INFO|WARN|ERROR"
    r"|DEBUG|TRACE)\b|\$ |#!|//|/\*|SELECT\s.+\sFROM\s|INSERT INTO\s|DELETE FROM\s|UPDATE\s\S+\sSET\s"
    r"|(?:CREATE|ALTER|DROP) TABLE\s|(?:const|let|var) \w+ ?=|(?:def|function) \w+\()"
)
HEADER_LINE = re.compile(r"^\s*(?:from|to|subject|date|cc|sent|von|betreff|de|objet|para|asunto):\s", re.IGNORECASE)
PASTE_MARK = re.compile(
    r"(?:^|\n)[^\n]*(?:wrote|schrieb|a écrit|escribió|says|said|e-?mail|article|transcript|text|log"
    r"|error|output)[^\n]{0,40}:[^\S\n]*+\n",
    re.IGNORECASE,
)
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
# Words of speakers about themselves, in English, German, French and Spanish.
SPEAKER: Final = r"I|I'm|im|I've|my|we|ich|wir|mein\w*|je|j'\w+|mon|ma|mes|yo|mi|soy|tengo|vivo|estoy"
# First words of a Spanish sentence of the speaker; some are nouns elsewhere ("Juego de tronos").
SPANISH_FIRST: Final = (
    "yo|mis?|me|nos|no|vivo|trabajo|prefiero|soy|tengo|uso|estudio|hablo|voy|viajo|quiero|hago|juego|hemos"
)
# First words of a sentence after a number: "starting aug 1. what do I do" has a break, "am 3. mai" has none.
BEGINS: Final = (
    r"what|where|when|who|why|which|how|can|could|do|does|did|is|are|would|should|any|please|thanks|and|but|also"
    rf"|they|he|she|it|it's|its|I'll|we're|our|nous|{SPEAKER}|{SPANISH_FIRST}"
)
ABBREVIATIONS: Final = ("dr", "st", "nr", "mr", "ms", "mrs", "jr", "inc", "ltd", "bzw", "ca", "evtl", r"z\.b")
# As written: in lower case "no." is an answer.
CASED: Final = ("No", "etc", "approx", "vs", r"e\.g", r"i\.e", r"a\.m", r"p\.m", "[A-Z]")
NO_END: Final = "".join(rf"(?<!\b{each}\.)" for each in (*CASED, *(f"(?i:{each})" for each in ABBREVIATIONS)))
# No break after abbreviations, initials, and the ordinals of German dates ("am 3. März").
BREAK = re.compile(rf"(?<=[.!?…]){NO_END}(?:(?<!\b\d\.)(?<!\b\d\d\.)|(?=\s+(?i:{BEGINS})\b))\s+")
# Single quotes are also apostrophes: only a long text between two separate ones is a quotation.
SINGLE_QUOTATION = re.compile(r"(?:(?<=\s)|(?<=[(:])|^)'(?=[A-ZÀ-Þ])[^\n']{1,3}[^\n]{16,400}?[.!?,…]'(?=\s|$)")
MEANT: Final = "I meant|ich meinte|je voulais dire|quise decir|digo"
# Words that the speaker replaces at once, up to a repetition of their first: "my brother Emil ... sorry, I mean my cousin Emil".
# Without a word that takes back, "I mean" may add to what was said: "I live in Rome, I mean in the centre".
SELF_REPAIR = re.compile(
    r"\b(?P<first>\w{1,20})(?: [\w'-]{1,30}){1,3}[ ,.…–—-]{1,6}"
    r"(?:(?:(?:sorry|no|wait|oops|äh+|ähm|nein|quatsch|non|pardon|perdón)[ ,.!…–—-]{1,6}){1,2}"
    rf"(?:I mean|ich meine?|je veux dire|quiero decir|{MEANT})|{MEANT})"
    r"[ ,]{1,3}(?=(?P=first)\b)",
    re.IGNORECASE,
)
WORDS_OF_A_NAME = 4
SPEAKS = re.compile(rf"\b(?:{SPEAKER}|bin)\b(?!\.)", re.IGNORECASE)
# Longer sentences are pasted, and are not searched.
MAX_CHARS = 600
APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "´": "'", "\u00a0": " "})


def sentences(content: str) -> list[str]:
    """The sentences of a message in order, as written, each with its closing punctuation."""
    text = own_words(content.translate(APOSTROPHES))
    lines = (BULLET.sub("", line) for line in text.split("\n") if not is_data(line))
    parts = (part.strip() for line in lines for part in BREAK.split(line))
    return [part for part in parts if 0 < len(part) <= MAX_CHARS]


def is_question(sentence: str) -> bool:
    return sentence.rstrip(' "”»)').endswith("?")


def own_words(text: str) -> str:
    """The text without code, quoted lines, long quotations, words that the speaker replaces at once, and everything after a line
    that announces a paste."""
    text = FENCED.sub("\n", text)
    announced = PASTE_MARK.search(text)
    if announced:
        text = text[: announced.start()]
    text = QUOTED_LINE.sub("", text)
    text = INLINE_CODE.sub(r"\1", text)
    text = SINGLE_QUOTATION.sub(" … ", text)
    text = SELF_REPAIR.sub("", text)
    return QUOTATION.sub(short_quotation, text)


def short_quotation(match: re.Match[str]) -> str:
    """A quoted name or title stays; a quoted statement of any length is left out."""
    is_name = len(match.group(1).split()) <= WORDS_OF_A_NAME and not SPEAKS.search(match.group(1))
    return match.group(0) if is_name else " … "


def is_data(line: str) -> bool:
    """Whether a line is part of a log, a stack trace, JSON, markup or a mail header."""
    return bool(DATA_LINE.match(line) or HEADER_LINE.match(line))
