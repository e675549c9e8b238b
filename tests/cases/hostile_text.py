"""Hostile texts for parsers, and a check that processing time grows linearly, which works on slow and busy machines."""

import math
import time
from collections.abc import Callable

from hypothesis import strategies as st

# Repeated, each of these once made a pattern scan the rest of the text from every position.
UNITS = (
    *(
        "\n",
        " ",
        "\u00a0",
        "-",
        ".",
        "(",
        "{",
        "<",
        "#",
        '"',
        "'",
        "`",
        "“",
        "«",
        "@",
        "=",
        "a",
        "1",
        "1-",
        "1 ",
        "a ",
        "a-",
        "a. ",
    ),
    *(
        "a@",
        "/a",
        "Ab ",
        "://",
        "http://a:b",
        "key=",
        "password ",
        "bearer ",
        "-eyJ",
        "eyJaaaaaa.",
        "-----BEGIN A ",
        "```",
    ),
    *(
        "> ",
        "log:\n",
        "system",
        "remember I am ",
        "I like tea and ",
        "not ",
        "no longer ",
        "tomorrow ",
        "(said: ",
        '{"a":',
    ),
    *(
        "ſ",
        "\u0301\u0316",
        "\uff9e\u0316",
        "\u200d",
        "\u202e",
        "\u05d0 ",
        "张",
        "👩\u200d👧 ",
        "\x00",
        "\ud800",
    ),
)
# Beginnings of patterns, followed by repetitions.
OPENINGS = ("password is", "key is", "auth:", "pin", "system", "log:", "(said: ", "eyJaaaaaa.eyJ")
# At the last length, work of 0.4 ns for each pair of characters takes longer than MOST_GROWTH times FLOOR_S.
CHARS = (100, 1_000, 10_000)
# Ten times the text: linear work takes ten times as long, quadratic a hundred times.
MOST_GROWTH = 40
# Shorter times are noise; growth below MOST_GROWTH times is accepted.
FLOOR_S = 0.001
MOST_TRIES = 3

WORDS_AND_MARKS = (
    "I we my the User ich wir mein je nous mon yo mi am like do not no longer stopped from to now and but tea Berlin on in by"
    " next last every Friday Freitag vendredi 3 31 May Mai tomorrow week year ago 999 0001-01-01 9999-12-31 at 3pm um 23 Uhr"
    ' fly fliege pars viajo password is : key = wrote: - > ` " ? . , ; ! ( ) [ ] mİch ıch frıday ſunday dayſ'
)
WORDS = WORDS_AND_MARKS.split()

anything = st.text(st.characters(exclude_categories=()))
storable = st.text()  # without halves of surrogate pairs: decoding a record refuses those
wordy = st.lists(st.sampled_from([*WORDS, "\n"]) | st.text(max_size=3), max_size=30).map(" ".join)


def of_chars(unit: str, chars: int, opening: str = "") -> str:
    return (opening + unit * (chars // len(unit) + 1))[:chars]


def assert_grows_linearly(work: Callable[[str], object], unit: str, opening: str = "") -> None:
    """Compares the CPU time for a text and for one ten times as long; begins with short texts, so that it ends."""
    before_s = cpu_s(work, of_chars(unit, CHARS[0], opening))
    for chars in CHARS[1:]:
        text, allowed_s = of_chars(unit, chars, opening), MOST_GROWTH * max(FLOOR_S, before_s)
        # Repeated if it took long, as the garbage collector may have run; with another text each time, as results may be cached.
        tries = (cpu_s(work, text + "." * number) for number in range(MOST_TRIES))
        before_s = next((taken_s for taken_s in tries if taken_s <= allowed_s), math.inf)
        assert before_s <= allowed_s, f"{chars:,} characters of {opening + unit!r} take more than {allowed_s:.2f} s"


def cpu_s(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


# For a database: NUL, which PostgreSQL rejects, escapes, quotes, joiners and direction marks.
HARD_TO_STORE = (
    "a\x00b",
    "\x00",
    "\\u0000",
    "\\\x00",
    '"\x00"',
    "'; DROP TABLE windows; --",
    "👩\u200d👧",
    "\u202e",
    "ſ",
    "%s {}",
)
