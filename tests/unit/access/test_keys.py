"""Namespace patterns of keys match as documented, in bounded time."""

import re
import time
from fnmatch import translate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.access.keys import covers

FEW = "ab/\n.["  # few characters, so that patterns cover something


@given(st.text(FEW + "*", min_size=1, max_size=12), st.text(FEW, max_size=12))
def test_a_namespace_pattern_matches_the_same_names_as_fnmatch(pattern: str, namespace: str):
    of_file_names = translate(pattern.replace("[", "[[]"))
    assert covers(pattern, namespace) is (re.match(of_file_names, namespace) is not None)


@pytest.mark.parametrize("pattern", ["*a*a*a*a*b", "a*" * 127 + "b", "*aa" * 80 + "*ab", "*" * 255 + "b"])
def test_matching_a_namespace_pattern_takes_no_exponential_time(pattern: str):
    began_s = time.process_time()
    assert not covers(pattern, "a" * 256)
    assert time.process_time() - began_s < 1
