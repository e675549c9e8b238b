"""Detectors scan a message once, in bounded time for any text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.windows.detectors.cleaning import INSPECTED_CHARS, TABLE, cleaned, flattened, inspected
from streams.windows.detectors.detect import SUBSTANTIAL, Detected, detect
from streams.windows.detectors.lexicon import ENDS, LONG, PASTED, SHORT
from streams.windows.detectors.traits import (
    CASUAL,
    DIRECTIVE,
    ERROR,
    GRATEFUL,
    NAMES,
    TOOL_CALL,
    TOOL_RESULT,
    names,
    references,
    with_references,
)
from tests.cases.hostile_text import OPENINGS, UNITS, anything, assert_grows_linearly, of_chars, wordy

MOST_S = 0.05  # for a megabyte, on a busy machine; it takes well below a millisecond


def test_tool_calls_and_results_are_found_without_a_text():
    assert detect("assistant", "", calls_tools=True) == Detected(TOOL_CALL, 0)
    assert detect("tool", "") == Detected(TOOL_RESULT, 0)
    assert detect("user", "") == Detected(0, 0)


def test_a_system_message_has_no_traits():
    assert detect("system", "Always answer in Dutch. Never say hello.") == Detected(0, 0)


def test_several_traits_are_found_in_one_message():
    assert names(detect("user", "It doesn't work. Don't touch the database, as I said.").traits) == (
        "directive",
        "error",
        "specific",
        "reference",
    )


def test_traits_at_the_start_and_end_of_a_long_message_are_found():
    paste = "lorem ipsum dolor sit amet " * 50_000
    assert detect("user", f"Never change this file:\n{paste}").traits & DIRECTIVE
    assert detect("user", f"{paste}\nIt doesn't work.").traits & ERROR


def test_cleaning_keeps_the_length_and_marks_sentence_ends():
    assert cleaned("No, THAT’S «Wrong». Ä").decode("latin-1") == "no  that s  wrong \n ä"
    assert flattened(cleaned("A, b.  C")) == b"\na b\n c\n"
    assert len(TABLE) == 256


def test_a_bounded_part_of_a_text_is_inspected():
    assert inspected("x" * INSPECTED_CHARS) == "x" * INSPECTED_CHARS
    assert len(inspected("x" * 10**6)) == INSPECTED_CHARS + 1


def test_names_lists_every_trait_bit_and_the_reference_count():
    every = with_references(sum(NAMES), 2)
    assert names(every) == (*NAMES.values(), "reference")
    assert references(every) == 2
    assert references(with_references(every, 99)) == 7


@pytest.mark.parametrize("lexicon", [*SHORT.values(), *LONG.values(), *PASTED.values(), *ENDS.values()])
def test_cleaning_leaves_trigger_words_unchanged(lexicon):
    for trigger in lexicon.triggers:
        assert cleaned(trigger).decode("latin-1") == trigger == " ".join(trigger.split())


@given(st.sampled_from(["user", "assistant", "tool", "system"]), anything | wordy, st.booleans())
@settings(max_examples=200)
def test_traits_of_any_text_are_deterministic_and_consistent(role, text, calls_tools):
    found = detect(role, text, calls_tools)
    assert found == detect(role, text, calls_tools)
    assert 0 <= found.fingerprint < 2**32
    assert not found.traits & GRATEFUL
    assert not (found.traits & CASUAL and (found.traits & SUBSTANTIAL or references(found.traits)))


@pytest.mark.parametrize("unit", UNITS)
def test_detection_time_grows_at_most_linearly_with_the_text_length(unit):
    assert_grows_linearly(lambda text: detect("user", text), unit)


@pytest.mark.parametrize("opening", OPENINGS)
def test_detection_in_a_hostile_megabyte_stays_within_the_time_bound(opening):
    for unit in UNITS:
        text = of_chars(unit, 1_000_000, opening)
        begun = time.process_time()
        detect("user", text)
        assert time.process_time() - begun < MOST_S, unit


def test_detection_in_text_made_only_of_triggers_stays_within_the_time_bound():
    text = " ".join(sorted(LONG["user"].triggers))
    begun = time.process_time()
    for start in range(0, len(text), INSPECTED_CHARS):
        detect("user", text[start : start + INSPECTED_CHARS])
    assert time.process_time() - begun < MOST_S
