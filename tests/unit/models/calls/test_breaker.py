"""The circuit breaker: closed, open, half-open, by moments that the tests name."""

import pytest

from agents.models.calls.breaker import Breaker


def opened(at: float = 0.0) -> Breaker:
    breaker = Breaker(most_outages=3, cool_down_s=30.0)
    for _ in range(3):
        breaker.started()
        breaker.failed(at)
    return breaker


def test_outages_in_a_row_open_it() -> None:
    breaker = Breaker(most_outages=3, cool_down_s=30.0)
    for outages in (1, 2):
        breaker.failed(0.0)
        assert (breaker.state(0.0), breaker.outages) == ("closed", outages)
    breaker.failed(0.0)
    assert breaker.state(0.0) == "open"
    assert breaker.wait_s(10.0) == 20.0


def test_an_answer_between_outages_keeps_it_closed() -> None:
    breaker = Breaker(most_outages=3)
    for _ in range(5):
        breaker.failed(0.0)
        breaker.failed(0.0)
        breaker.answered()
    assert breaker.state(0.0) == "closed" and breaker.wait_s(0.0) == 0.0


def test_one_probe_is_let_through_after_the_cool_down_and_no_second_beside_it() -> None:
    breaker = opened()
    assert breaker.state(29.9) == "open" and breaker.wait_s(29.9) > 0
    assert breaker.state(30.0) == "half-open" and breaker.wait_s(30.0) == 0.0
    breaker.started()
    assert breaker.wait_s(31.0) > 0


def test_probe_that_is_answered_closes_it() -> None:
    breaker = opened()
    breaker.started()
    breaker.answered()
    assert breaker.state(30.0) == "closed" and breaker.outages == 0


def test_probe_that_fails_opens_it_for_another_cool_down() -> None:
    breaker = opened()
    breaker.started()
    breaker.failed(40.0)
    assert breaker.state(69.9) == "open" and breaker.state(70.0) == "half-open"


def test_probe_that_ends_without_a_word_leaves_room_for_another() -> None:
    breaker = opened()
    breaker.started()
    breaker.abandoned()
    assert breaker.wait_s(30.0) == 0.0


def test_calls_that_were_under_way_do_not_put_the_probe_off() -> None:
    breaker = opened(at=0.0)
    breaker.failed(20.0)
    assert breaker.wait_s(30.0) == 0.0


@pytest.mark.parametrize("state", ["closed", "open"])
def test_late_answer_of_a_call_that_was_under_way_closes_it(state: str) -> None:
    breaker = opened() if state == "open" else Breaker()
    breaker.answered()
    assert breaker.wait_s(0.0) == 0.0
