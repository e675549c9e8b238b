"""Counted tokens are converted to billed ones by the providers' reports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import codec
from schemas.conversations.windows import Calibration
from streams.windows.tokens.calibration import (
    MAX_RATIO,
    MIN_TOKENS,
    UNCALIBRATED,
    WEIGHT,
    observe,
    of,
)


def test_an_uncalibrated_model_has_a_ratio_of_one():
    assert UNCALIBRATED.ratio == 1.0


def test_the_first_requests_have_equal_weight():
    once = observe(UNCALIBRATED, 100, 120)
    assert once.ratio == pytest.approx(1.2)
    assert observe(once, 100, 140).ratio == pytest.approx(1.3)


def test_later_requests_have_the_documented_weight():
    settled = Calibration(1.2, 500)
    assert observe(settled, 100, 220).ratio == pytest.approx(1.2 + WEIGHT * 1.0)


def test_the_ratio_is_never_below_one():
    assert observe(UNCALIBRATED, 100, 50).ratio == 1.0


def test_fixed_tokens_added_by_a_provider_do_not_affect_the_ratio():
    assert observe(UNCALIBRATED, 100, 433, fixed=313).ratio == pytest.approx(1.2)


@pytest.mark.parametrize(("counted", "billed", "fixed"), [(MIN_TOKENS - 1, 500, 0), (100, 0, 0), (100, 313, 313)])
def test_requests_too_small_or_without_billed_text_are_ignored(counted, billed, fixed):
    assert observe(Calibration(1.5, 3), counted, billed, fixed) == Calibration(1.5, 3)


def test_an_absurd_number_of_billed_tokens_is_capped_at_the_maximum_ratio():
    assert observe(UNCALIBRATED, 100, 10**6).ratio == MAX_RATIO


def test_a_calibration_survives_encoding_and_decoding():
    known = observe(observe(UNCALIBRATED, 100, 130), 1_000, 1_200)
    assert codec.decode(codec.encode(known), Calibration) == known


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**7), st.integers(0, 500)), max_size=40))
def test_any_usage_leaves_a_ratio_within_its_bounds(requests):
    known = UNCALIBRATED
    for counted, billed, fixed in requests:
        known = observe(known, counted, billed, fixed)
    assert 1.0 <= known.ratio <= MAX_RATIO


KNOWN = {
    "claude-haiku-4-5-20251001": Calibration(1.2, 9),
    "llama3.2": Calibration(1.1, 3),
    "gpt-4o": Calibration(1.3, 3),
}


@pytest.mark.parametrize(
    ("model", "mean"),
    [
        ("claude-haiku-4-5-20251001", 1.2),
        ("claude-haiku-4-5", 1.2),
        ("llama3.2:latest", 1.1),
        ("gpt-4o-2024-08-06", 1.3),
        ("gpt-4o-mini", 0.0),
        ("claude-haiku-4", 0.0),
        (None, 0.0),
        ("", 0.0),
    ],
)
def test_a_calibration_is_found_by_model_name_with_or_without_a_version(model, mean):
    assert of(KNOWN, model).mean == mean
