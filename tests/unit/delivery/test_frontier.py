"""The frontier passes finished work only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.frontier import Frontier


def test_work_finished_out_of_order_moves_the_frontier_only_when_the_gap_is_filled():
    frontier = Frontier(10)
    first, second, third = frontier.add(15), frontier.add(20), frontier.add(21)
    assert frontier.finish(third) == 10
    assert frontier.finish(second) == 10
    assert frontier.in_flight == 1
    assert frontier.finish(first) == 21
    assert frontier.in_flight == 0


def test_the_frontier_does_not_pass_a_gap_of_one_unfinished_record():
    frontier = Frontier(0)
    extents = [frontier.add(end) for end in range(1, 6)]
    for extent in extents[1:]:
        assert frontier.finish(extent) == 0
    assert frontier.finish(extents[0]) == 5


def test_finishing_an_extent_again_changes_nothing():
    frontier = Frontier(0)
    first, second = frontier.add(5), frontier.add(9)
    frontier.finish(first)
    assert frontier.finish(first) == 5
    frontier.finish(second)
    assert frontier.finish(first) == 9


def test_an_extent_of_another_epoch_does_not_move_the_frontier():
    old, new = Frontier(0), Frontier(0)
    stale = old.add(5)
    new.add(3)
    assert new.finish(stale) == 0


def test_extents_follow_each_other_without_gaps():
    frontier = Frontier(7)
    assert [(e.first, e.end) for e in (frontier.add(9), frontier.add(9), frontier.add(30))] == [(7, 9), (9, 9), (9, 30)]


def test_an_extent_cannot_end_before_the_last_one():
    frontier = Frontier(7)
    frontier.add(9)
    with pytest.raises(ValueError, match="before 9"):
        frontier.add(8)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.data())
def test_in_any_finishing_order_the_frontier_stops_at_unfinished_work_and_reaches_the_end(lengths, data):
    frontier = Frontier(100)
    extents, end = [], 100
    for length in lengths:
        end += length
        extents.append(frontier.add(end))
    for extent in data.draw(st.permutations(extents)):
        before = frontier.position
        position = frontier.finish(extent)
        unfinished = [e for e in extents if not e.finished]
        assert position == frontier.position >= before
        assert position == min((e.first for e in unfinished), default=end)
    assert frontier.position == end
    assert frontier.in_flight == 0
