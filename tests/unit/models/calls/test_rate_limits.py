"""Rate limits of a provider at given times, and the API's rate limit headers."""

import pytest

from agents.models.calls.rate_limits import (
    EXPECTED_OUTPUT_TOKENS,
    Allowance,
    RateLimits,
    TokenBucket,
    actual_cost,
    cost,
    expected_cost,
)
from agents.models.claude.rate_limits import allowances, retry_after_s
from agents.models.port import Usage

# As the API told them, 2025-08-21.
HEADERS = {
    "anthropic-ratelimit-input-tokens-limit": "80000",
    "anthropic-ratelimit-input-tokens-remaining": "79000",
    "anthropic-ratelimit-input-tokens-reset": "2025-08-21T12:40:59Z",
    "anthropic-ratelimit-output-tokens-limit": "16000",
    "anthropic-ratelimit-output-tokens-remaining": "16000",
    "anthropic-ratelimit-output-tokens-reset": "2025-08-21T12:41:00Z",
    "anthropic-ratelimit-requests-limit": "1000",
    "anthropic-ratelimit-requests-remaining": "999",
    "anthropic-ratelimit-requests-reset": "2025-08-21T12:40:59Z",
    "anthropic-ratelimit-tokens-limit": "96000",
    "anthropic-ratelimit-tokens-remaining": "95000",
    "anthropic-ratelimit-tokens-reset": "2025-08-21T12:40:59Z",
    "retry-after": "12",
}


def test_rate_limit_headers_of_the_api_are_parsed() -> None:
    assert allowances(HEADERS) == (
        Allowance("requests", 1_000, 999),
        Allowance("input_tokens", 80_000, 79_000),
        Allowance("output_tokens", 16_000, 16_000),
        Allowance("tokens", 96_000, 95_000),
    )
    assert retry_after_s(HEADERS) == 12.0


@pytest.mark.parametrize("odd", ["", "many", "-1", "nan", "inf", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_invalid_rate_limit_headers_are_ignored(odd: str) -> None:
    assert allowances(dict.fromkeys(HEADERS, odd)) == ()
    assert retry_after_s({"retry-after": odd}) is None


def test_a_reported_rate_limit_of_zero_is_ignored() -> None:
    assert allowances({**HEADERS, "anthropic-ratelimit-requests-limit": "0"})[0].kind == "input_tokens"


def test_calls_never_wait_without_a_limit() -> None:
    limits = RateLimits()
    for _ in range(1_000):
        assert limits.wait_s(0.0, expected_cost(100_000)) == 0.0
        limits.take(0.0, expected_cost(100_000))


def test_calls_wait_until_enough_tokens_are_refilled() -> None:
    bucket = TokenBucket(6_000)
    bucket.take(0.0, 6_000)
    assert bucket.wait_s(0.0, 500) == 5.0
    assert bucket.wait_s(3.0, 500) == pytest.approx(2.0)
    assert bucket.wait_s(5.0, 500) == 0.0


def test_a_cost_above_the_bucket_capacity_is_allowed_if_the_bucket_is_full() -> None:
    bucket = TokenBucket(6_000)
    assert bucket.wait_s(0.0, 50_000) == 0.0
    bucket.take(0.0, 50_000)
    assert bucket.wait_s(0.0, 1) == pytest.approx(440.01)


def test_bucket_holds_no_more_than_a_minutes_worth() -> None:
    bucket = TokenBucket(60)
    bucket.take(1_000.0, 60)
    assert bucket.wait_s(1_000.0, 1) == pytest.approx(1.0)


def test_the_configured_limit_counts_input_and_output_tokens() -> None:
    limits = RateLimits(tokens_per_minute=6_000)
    limits.take(0.0, cost(5_000, 1_000))
    assert limits.wait_s(0.0, cost(50, 50)) == pytest.approx(1.0)


def test_the_remaining_allowance_reported_by_the_server_is_applied() -> None:
    limits = RateLimits()
    limits.set_remaining(0.0, [Allowance("input_tokens", 60_000, 2_000)])
    assert limits.wait_s(0.0, cost(2_000, 0)) == 0.0
    assert limits.wait_s(0.0, cost(5_000, 0)) == pytest.approx(3.0)


def test_calls_in_flight_still_count_when_the_server_reports_a_new_allowance() -> None:
    limits = RateLimits()
    limits.set_remaining(0.0, [Allowance("input_tokens", 60_000, 10_000)])
    limits.take(0.0, cost(8_000, 0))
    limits.set_remaining(0.0, [Allowance("input_tokens", 60_000, 9_000)])
    assert limits.wait_s(0.0, cost(4_000, 0)) == pytest.approx(2.0)


def test_every_kind_of_limit_is_enforced() -> None:
    for kind, usage in {"requests": cost(0, 0), "output_tokens": cost(0, 600), "tokens": cost(300, 300)}.items():
        limits = RateLimits()
        limits.set_remaining(0.0, [Allowance(kind, 600, 0)])
        assert limits.wait_s(0.0, usage) > 0, kind


def test_reserved_but_unused_tokens_are_returned_to_the_limit() -> None:
    limits = RateLimits(tokens_per_minute=6_000)
    limits.take(0.0, cost(5_000, 1_000))
    limits.correct(0.0, cost(5_000, 1_000), cost(4_000, 0))
    assert limits.wait_s(0.0, cost(2_000, 0)) == 0.0
    assert limits.wait_s(0.0, cost(2_100, 0)) > 0


def test_closed_limits_block_all_calls_until_the_pause_ends() -> None:
    limits = RateLimits()
    limits.block(10.0, 5.0)
    limits.block(10.0, 2.0)
    assert limits.wait_s(11.0, cost(1, 1)) == 4.0
    assert limits.wait_s(15.0, cost(1, 1)) == 0.0


def test_tokens_read_from_the_cache_do_not_count_towards_rate_limits() -> None:
    used = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=1_000, cache_write_tokens=50)
    assert actual_cost(used) == {"requests": 1.0, "input_tokens": 150, "output_tokens": 20, "tokens": 170}


def test_the_expected_cost_of_a_call_includes_output_tokens() -> None:
    assert expected_cost(100)["output_tokens"] == EXPECTED_OUTPUT_TOKENS
