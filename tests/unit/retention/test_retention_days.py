"""Retention periods of the archive, and reports of sweeps."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import ValidationError, convert

from deploy.policies.files import preset, read_file
from schemas.consolidation.retention import RetentionStatistics
from schemas.policies.policies import Policy

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize("days", [0, 7, 30, 90])
def test_retention_days_may_be_zero_or_between_a_week_and_three_months(days):
    assert convert({"name": "p", "retention_days": days}, Policy).retention_days == days


@pytest.mark.parametrize("days", [-1, 1, 6, 91, 7.5])
def test_other_retention_days_are_rejected(days):
    with pytest.raises(ValidationError, match="retention_days"):
        convert({"name": "p", "retention_days": days}, Policy)


def test_messages_are_kept_forever_by_default_and_for_thirty_days_by_the_agent_preset():
    assert Policy(name="p").retention_days == 0
    (written,) = read_file(preset("agent-longterm"))
    assert written.policy.retention_days == 30


def test_statistics_of_two_pages_are_added_under_the_latest_retention_days():
    later = NOON + timedelta(days=1)
    first = RetentionStatistics(
        policy="p", days=30, messages=2, bytes=20, oldest=later, held=1, pruned=5, pruned_bytes=50
    )
    second = RetentionStatistics(policy="p", days=7, messages=3, bytes=30, oldest=NOON)
    both = RetentionStatistics(policy="p", days=7, messages=5, bytes=50, oldest=NOON, held=1, pruned=5, pruned_bytes=50)
    assert first + second == both
    assert (first + RetentionStatistics(policy="p", days=30)).oldest == later
