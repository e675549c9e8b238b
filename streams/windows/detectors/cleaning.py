"""Normalises a text for matching: bounded length, lower case, separated words, a newline at each end of a sentence."""

from typing import Final

INSPECTED_CHARS: Final = 2_000  # half from each end: a request is before or after pasted text
SENTENCE_ENDS: Final = ".!?;:¡¿\n\r"


def _cleaned_byte(code: int) -> int:
    char = chr(code)
    if char in SENTENCE_ENDS:
        return ord("\n")
    if not (char.isalnum() or char == "_"):
        return ord(" ")
    lower = ord(char.lower())
    return lower if lower < 256 else code


TABLE: Final = bytes(_cleaned_byte(code) for code in range(256))


def inspected(text: str) -> str:
    """The part of a text that detectors read: all of it, or its start and its end."""
    if len(text) <= INSPECTED_CHARS:
        return text
    return f"{text[: INSPECTED_CHARS // 2]}\n{text[-INSPECTED_CHARS // 2 :]}"


def cleaned(text: str) -> bytes:
    """Lower-case words of the Latin-1 alphabet, spaces and newlines, in Latin-1; of the text's length.

    Translating bytes costs a tenth of what lower-casing and a regular expression do. Letters of other scripts become
    newlines: no rule is written in them.
    """
    if not text.isascii():
        text = text.replace("’", "'").replace("œ", "o")
    return text.encode("latin-1", "replace").translate(TABLE)


def flattened(clean: bytes) -> bytes:
    """Cleaned text with a newline at both ends, and single spaces nearly everywhere."""
    return (b"\n%b\n" % clean).replace(b"  ", b" ")
