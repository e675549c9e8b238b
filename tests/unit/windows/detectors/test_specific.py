"""Detection of specific statements of users, apart from questions, chat and other roles."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import MAX_REFERENCES, SPECIFIC, references, with_references


@pytest.mark.parametrize(
    "text",
    [
        "the dog weighs 34 kilos",
        "we fly to Lisbon",
        "mon mari s'appelle Étienne",
        "the light on the box goes red for a second and then everything in the house drops",
    ],
)
def test_a_statement_with_a_number_a_name_or_many_words_is_specific(text):
    assert detect("user", text).traits & SPECIFIC


@pytest.mark.parametrize("text", ["It drops.", "Where is Lisbon, 300 km away?", "thanks a lot!", "Okay", "go on then"])
def test_questions_small_talk_and_short_texts_are_not_specific(text):
    assert not detect("user", text).traits & SPECIFIC


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_users_make_specific_statements(role):
    assert not detect(role, "the dog weighs 34 kilos").traits & SPECIFIC


@pytest.mark.parametrize("count", range(MAX_REFERENCES + 2))
def test_the_reference_count_and_the_specific_trait_do_not_overwrite_each_other(count):
    assert references(with_references(SPECIFIC, count)) == min(count, MAX_REFERENCES)
    assert with_references(SPECIFIC, count) & SPECIFIC
