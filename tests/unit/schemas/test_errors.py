"""The exception tree: every error belongs to one of four classes."""

from datetime import UTC, datetime

import pytest

from schemas.errors import Deferred, MemstreamError, Misconfigured, Rejected, Retryable

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
BRANCHES = {Retryable, Deferred, Rejected, Misconfigured}


@pytest.mark.parametrize(
    "error", [Retryable("down"), Deferred(NOON, "budget"), Rejected("invalid", "no role"), Misconfigured("PORT=x")]
)
def test_every_error_class_derives_from_memstream_error(error):
    assert isinstance(error, MemstreamError)


def test_the_error_branches_are_disjoint():
    for branch in BRANCHES:
        assert not any(issubclass(branch, other) for other in BRANCHES - {branch})


def test_a_deferral_has_its_reason_and_time():
    deferred = Deferred(NOON, "budget")
    assert (deferred.until, deferred.reason) == (NOON, "budget")
    assert str(deferred) == "budget: waits until 2026-03-02T12:00:00+00:00"


def test_a_rejection_has_its_reason_and_detail():
    rejected = Rejected("invalid", "no role")
    assert (rejected.reason, rejected.detail, str(rejected)) == ("invalid", "no role", "invalid: no role")
