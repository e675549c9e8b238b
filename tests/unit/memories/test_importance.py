"""Conversions between the scales of importance lose nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.extraction import importance

FRACTIONS = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("points", "fraction", "band"),
    [
        (0, 0.0, "trivial"),
        (10, 0.2, "trivial"),
        (11, 0.2022, "casual"),
        (100, 0.4, "casual"),
        (300, 0.5, "notable"),
        (500, 0.6, "notable"),
        (1_000, 0.75, "important"),
        (1_001, 0.75, "very important"),
        (5_000, 0.9, "very important"),
        (9_999, 1.0, "critical"),
        (10_000, 1.0, "maximum"),
        (123_456, 1.0, "maximum"),
        (2_000_000, 1.0, "maximum"),
        (-5, 0.0, "trivial"),
    ],
)
def test_points_have_a_fraction_and_a_band(points: int, fraction: float, band: str) -> None:
    assert importance.of_points(points) == pytest.approx(fraction, abs=1e-4)
    assert importance.band(points) == band


@given(st.integers(0, importance.MOST_POINTS))
def test_points_survive_conversion_to_a_fraction_and_back(points: int) -> None:
    assert importance.points(importance.of_points(points)) == points


def test_high_points_map_to_distinct_fractions() -> None:
    rated = [9_999, 10_000, 10_001, 20_000, 999_999, 1_000_000]
    fractions = [importance.of_points(each) for each in rated]
    assert fractions == sorted(set(fractions)) and fractions[-1] == 1.0


def test_the_default_importance_is_casual() -> None:
    assert importance.points(importance.DEFAULT) == 100
    assert importance.band(100) == "casual"


@given(FRACTIONS, FRACTIONS)
def test_conversion_to_points_is_monotonic(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert 0 <= importance.points(less) <= importance.points(more) <= importance.MOST_POINTS


@given(FRACTIONS)
def test_only_the_fraction_one_has_the_maximum_points(fraction: float) -> None:
    assert (importance.points(fraction) == importance.MOST_POINTS) == (fraction == 1.0)


@given(FRACTIONS)
def test_tenths_survive_conversion_within_half_a_decimal(fraction: float) -> None:
    assert importance.of_tenths(importance.tenths(fraction)) == pytest.approx(fraction, abs=0.005 + 1e-9)


@pytest.mark.parametrize(("tenths", "fraction"), [(0, 0.0), (7.5, 0.75), (10, 1.0), (11, 1.0), (-1, 0.0)])
def test_tenths_outside_their_range_are_clamped(tenths: float, fraction: float) -> None:
    assert importance.of_tenths(tenths) == fraction


def test_the_fraction_of_points_has_no_rounding_error() -> None:
    assert importance.of_points(140) == 0.42
