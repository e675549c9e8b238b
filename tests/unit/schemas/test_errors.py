"""The exception tree: callers branch on three classes and lose nothing."""

import pytest

from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable


@pytest.mark.parametrize("error", [Retryable("down"), Rejected("invalid", "no role"), Misconfigured("PORT=x")])
def test_everything_raised_on_purpose_has_one_root(error):
    assert isinstance(error, MemstreamError)


def test_the_branches_exclude_each_other():
    for branch in (Retryable, Rejected, Misconfigured):
        others = {Retryable, Rejected, Misconfigured} - {branch}
        assert not any(issubclass(branch, other) for other in others)


def test_a_rejection_tells_its_reason_and_its_detail():
    rejected = Rejected("invalid", "no role")
    assert (rejected.reason, rejected.detail, str(rejected)) == ("invalid", "no role", "invalid: no role")
