"""Repeated texts are redundant, except the last one."""

from streams.windows.detectors.detect import detect
from streams.windows.detectors.redundancy import MIN_CHARS, redundant
from tests.fakes.message_traits import turn

LONG = "The meeting is on Thursday at ten in room 4."


def fingerprint(text: str) -> int:
    return detect("user", text).fingerprint


def test_the_same_words_have_the_same_fingerprint_whatever_their_case_and_punctuation():
    assert fingerprint(LONG) == fingerprint(LONG.upper().replace(".", "!")) != 0
    assert fingerprint(LONG) != fingerprint(LONG.replace("ten", "six"))


def test_different_texts_in_non_latin_scripts_have_different_fingerprints():
    first, second = "\u6211\u4f4f\u5728\u4e0a\u6d77" * 6, "\u6211\u4f4f\u5728\u5317\u4eac" * 6
    assert fingerprint(first) != fingerprint(second)
    assert fingerprint(first) == fingerprint(first) != 0


def test_long_texts_of_different_lengths_have_different_fingerprints():
    assert fingerprint("a " * 5_000) != fingerprint("a " * 5_001)


def test_short_texts_have_no_fingerprint_and_lone_surrogates_do_not_fail():
    assert fingerprint("x" * (MIN_CHARS - 1)) == 0
    assert fingerprint("\ud800 lone surrogates are counted as well") != 0


def test_all_but_the_last_of_equal_messages_are_redundant():
    turns = [turn(0, fingerprint=7), turn(1, fingerprint=8), turn(2, fingerprint=7), turn(3, fingerprint=7)]
    assert redundant(turns) == {0, 2}


def test_equal_texts_of_different_roles_and_texts_without_a_fingerprint_are_not_redundant():
    assert redundant([turn(0, fingerprint=7), turn(1, "tool", fingerprint=7), turn(2), turn(3)]) == set()
