"""The circuit breaker: closed, open and half-open, at given times."""

import pytest

from agents.models.calls.breaker import Breaker


def opened(at: float = 0.0) -> Breaker:
    breaker = Breaker(max_outages=3, cool_down_s=30.0)
    for _ in range(3):
        breaker.started()
        breaker.failed(at)
    return breaker


def test_consecutive_outages_open_the_breaker() -> None:
    breaker = Breaker(max_outages=3, cool_down_s=30.0)
    for outages in (1, 2):
        breaker.failed(0.0)
        assert (breaker.state(0.0), breaker.outages) == ("closed", outages)
    breaker.failed(0.0)
    assert breaker.state(0.0) == "open"
    assert breaker.wait_s(10.0) == 20.0


def test_an_answer_between_outages_keeps_the_breaker_closed() -> None:
    breaker = Breaker(max_outages=3)
    for _ in range(5):
        breaker.failed(0.0)
        breaker.failed(0.0)
        breaker.answered()
    assert breaker.state(0.0) == "closed" and breaker.wait_s(0.0) == 0.0


def test_only_one_probe_at_a_time_is_allowed_after_the_cool_down() -> None:
    breaker = opened()
    assert breaker.state(29.9) == "open" and breaker.wait_s(29.9) > 0
    assert breaker.state(30.0) == "half-open" and breaker.wait_s(30.0) == 0.0
    breaker.started()
    assert breaker.wait_s(31.0) > 0


def test_a_successful_probe_closes_the_breaker() -> None:
    breaker = opened()
    breaker.started()
    breaker.answered()
    assert breaker.state(30.0) == "closed" and breaker.outages == 0


def test_a_failed_probe_opens_the_breaker_for_another_cool_down() -> None:
    breaker = opened()
    breaker.started()
    breaker.failed(40.0)
    assert breaker.state(69.9) == "open" and breaker.state(70.0) == "half-open"


def test_an_abandoned_probe_allows_another_probe() -> None:
    breaker = opened()
    breaker.started()
    breaker.abandoned()
    assert breaker.wait_s(30.0) == 0.0


def test_failures_of_calls_already_in_flight_do_not_delay_the_probe() -> None:
    breaker = opened(at=0.0)
    breaker.failed(20.0)
    assert breaker.wait_s(30.0) == 0.0


@pytest.mark.parametrize("state", ["closed", "open"])
def test_a_late_answer_of_a_call_in_flight_closes_the_breaker(state: str) -> None:
    breaker = opened() if state == "open" else Breaker()
    breaker.answered()
    assert breaker.wait_s(0.0) == 0.0
