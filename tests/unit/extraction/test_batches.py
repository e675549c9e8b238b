"""Parked requests form a batch once it is full or they waited long enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinks.extraction.batches import Bounds, Waiting, batch_members

BOUNDS = Bounds(requests=3, bytes=100, wait_s=60.0)


def waiting(*each: tuple[int, float]) -> list[Waiting]:
    """Builds waiting requests from (bytes, waiting seconds), named by their index."""
    return [Waiting(f"{place}", size, waited_s) for place, (size, waited_s) in enumerate(each)]


@pytest.mark.parametrize(
    ("each", "chosen"),
    [
        ([], []),
        ([(10, 59.9)], []),
        ([(10, 60.0)], ["0"]),
        ([(10, 60.0), (10, 0.0)], ["0", "1"]),
        ([(10, 5.0), (10, 4.0), (10, 3.0)], ["0", "1", "2"]),
        ([(10, 5.0), (10, 4.0), (10, 3.0), (10, 2.0)], ["0", "1", "2"]),
        ([(60, 5.0), (60, 4.0)], ["0"]),
        ([(60, 5.0), (40, 4.0)], ["0", "1"]),
        ([(500, 5.0)], ["0"]),
        ([(500, 5.0), (1, 4.0)], ["0"]),
    ],
    ids=[
        "nothing waits",
        "one waits for more",
        "one has waited long enough",
        "others go with it",
        "as many as a batch has",
        "the rest waits",
        "as many bytes as a batch has, the rest waits",
        "just as many bytes",
        "a large one goes alone",
        "a large one goes alone, whoever else waits",
    ],
)
def test_a_batch_is_formed_once_it_is_full_or_a_request_waited_long_enough(each, chosen):
    assert batch_members(waiting(*each), BOUNDS) == chosen


sizes = st.lists(st.tuples(st.integers(1, 150), st.floats(0, 120)), max_size=8)


@given(sizes)
def test_a_batch_respects_its_bounds_and_takes_the_first_waiting_requests(each):
    chosen = batch_members(waiting(*each), BOUNDS)
    assert chosen == [f"{place}" for place in range(len(chosen))]
    assert len(chosen) <= BOUNDS.requests
    assert len(chosen) == 1 or sum(each[int(place)][0] for place in chosen) <= BOUNDS.bytes
    assert chosen or all(waited_s < BOUNDS.wait_s for _, waited_s in each)
