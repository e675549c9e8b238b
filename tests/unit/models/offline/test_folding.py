"""Patterns of folded texts match as the same patterns do with IGNORECASE on the texts as they are."""

import re
import sys
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from agents.models.offline.rules.engine.folding import folded
from agents.models.offline.rules.engine.injection import INSTRUCTION, WIPE
from agents.models.offline.rules.lasting_instructions.classifier import classes
from agents.models.offline.rules.lasting_instructions.instruction_classes import LimitPattern, table
from agents.models.offline.rules.lasting_instructions.instructions import InstructionPatterns, instruction_patterns
from agents.profile import lexicon

EVERY_CHARACTER = "".join(map(chr, range(sys.maxunicode + 1)))
LOOKALIKES = str.maketrans({"k": "K", "s": "ſ", "i": "ı", "I": "İ", "å": "Å", "ß": "ẞ"})


def limits_of(patterns: InstructionPatterns) -> Iterator[LimitPattern]:
    for value in vars(patterns).values():
        yield from (each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, LimitPattern))


LIMITS = [each for code in table() for each in limits_of(instruction_patterns(code))]
WORDING = [each for each in vars(lexicon).values() if isinstance(each, re.Pattern)]
CLASSES = [each.words for code in table() for each in classes(code) if not each.is_cased]
PATTERNS = [INSTRUCTION, WIPE, *WORDING, *CLASSES, *(each.pattern for each in LIMITS)]


def positions(pattern: str, text: str, flags: int = 0) -> list[int]:
    return [each.start() for each in re.finditer(pattern, text, flags)]


def with_case_ignored(pattern: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(pattern.pattern, pattern.flags | re.IGNORECASE)


def spelled_otherwise(text: str) -> st.SearchStrategy[str]:
    changed = (text, text.upper(), text.title(), text.translate(LOOKALIKES), text.upper().translate(LOOKALIKES))
    return st.sampled_from(changed)


def test_folding_equates_the_characters_that_the_patterns_take_for_equal_and_no_others():
    lowered = folded(EVERY_CHARACTER)
    assert len(lowered) == len(EVERY_CHARACTER)
    for kind in (r"\w", r"\d", r"\s", r"."):
        assert positions(kind, lowered) == positions(kind, EVERY_CHARACTER)
    letters = {letter for each in PATTERNS for letter in each.pattern if letter == folded(letter)}
    any_letter = f"[{re.escape(''.join(letters))}]"
    relevant = "".join(re.findall(any_letter, EVERY_CHARACTER, re.IGNORECASE))
    assert len(relevant) == len(re.findall(any_letter, lowered))
    for letter in letters:
        assert positions(re.escape(letter), folded(relevant)) == positions(re.escape(letter), relevant, re.IGNORECASE)


def test_the_patterns_of_folded_texts_have_no_capitals_and_do_not_ignore_case():
    literals = [re.sub(r"\\.|\(\?P<\w+>", "", each.pattern) for each in PATTERNS]
    assert [each for each in literals if each != folded(each)] == []
    assert [each for each in PATTERNS if each.flags & re.IGNORECASE] == []


@given(st.data())
def test_a_pattern_finds_in_the_folded_text_what_it_finds_in_the_text_with_case_ignored(data: st.DataObject):
    pattern = data.draw(st.sampled_from(PATTERNS))
    known = with_case_ignored(pattern)
    said = data.draw(st.one_of(st.text(), st.from_regex(known)).flatmap(spelled_otherwise))
    text = data.draw(st.sampled_from(["{}", "User {}.", "Der Nutzer {}", "never-{}-"])).format(said)
    found, expected = pattern.search(folded(text)), known.search(text)
    assert (found and found.span()) == (expected and expected.span())


@given(st.data())
def test_a_limit_is_found_as_without_the_search_for_the_words_it_needs(data: st.DataObject):
    limit = data.draw(st.sampled_from(LIMITS))
    known = with_case_ignored(limit.pattern)
    text = data.draw(st.one_of(st.text(), st.from_regex(known)).flatmap(spelled_otherwise))
    assert limit.is_in(folded(text)) == (known.search(text) is not None)
