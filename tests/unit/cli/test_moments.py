"""Parsing of dates and times in command options."""

from datetime import UTC, datetime, timedelta

import pytest

from deploy.cli.time_options import parse_time


def test_relative_and_absolute_times_are_parsed_as_utc():
    assert abs(datetime.now(UTC) - timedelta(hours=24) - parse_time("24h")) < timedelta(minutes=1)
    assert parse_time("2026-11-22T14:00") == datetime(2026, 11, 22, 14, tzinfo=UTC)
    assert parse_time("2026-11-22T14:00+02:00") == datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(("text", "error"), [("999999d", "before the year 1"), ("yesterday", "not a time")])
def test_an_invalid_time_raises_value_error(text: str, error: str):
    with pytest.raises(ValueError, match=error):
        parse_time(text)
