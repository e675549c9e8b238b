"""What continues where a partition was left, and what may be committed of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.positions import Positions, Read

TP = ("chat.messages", 3)
OTHER = ("chat.messages", 4)


@pytest.fixture
def positions() -> Positions:
    positions = Positions()
    positions.reset({TP: 100})
    return positions


def test_a_read_that_starts_where_the_partition_was_left_continues(positions):
    assert positions.continues(TP, Read(100, 105, ["r"]))
    positions.take(TP, Read(100, 105, ["r"]))
    assert positions.expected(TP) == 105
    assert positions.continues(TP, Read(105, 106, ["r"]))


@pytest.mark.parametrize("start", [99, 101, 105])
def test_a_read_that_starts_elsewhere_does_not(positions, start):
    assert not positions.continues(TP, Read(start, start + 5, ["r"]))


def test_a_partition_that_is_not_held_continues_nothing_and_has_nothing_to_commit(positions):
    assert OTHER not in positions
    assert list(positions) == [TP]
    assert not positions.continues(OTHER, Read(0, 5, ["r"]))
    assert positions.committable(OTHER) is None


def test_holes_inside_a_read_are_part_of_its_extent(positions):
    extent = positions.take(TP, Read(100, 120, ["only", "two"]))
    assert (extent.first, extent.end) == (100, 120)
    assert positions.committable(TP) == 100
    positions.finish(TP, extent)
    assert positions.committable(TP) == 120


def test_control_records_alone_leave_no_lag(positions):
    positions.finish(TP, positions.take(TP, Read(100, 103, ["r"])))
    positions.finish(TP, positions.take(TP, Read(103, 104, [])))
    assert positions.committable(TP) == 104


def test_control_records_are_not_committed_past_work_that_is_not_done(positions):
    work = positions.take(TP, Read(100, 103, ["r"]))
    positions.finish(TP, positions.take(TP, Read(103, 104, [])))
    assert positions.committable(TP) == 100
    positions.finish(TP, work)
    assert positions.committable(TP) == 104


def test_an_agent_with_an_empty_queue_has_read_to_behind_trailing_control_records(positions):
    positions.take(TP, Read(100, 103, ["r"]))
    positions.take(TP, Read(103, 104, []))
    assert positions.read_to(TP, applied=103) == 104


def test_an_agent_with_work_in_its_queue_has_read_to_where_it_applied(positions):
    positions.take(TP, Read(100, 103, ["r"]))
    positions.take(TP, Read(103, 107, ["r"]))
    positions.take(TP, Read(107, 108, []))
    assert positions.read_to(TP, applied=103) == 103
    assert positions.read_to(TP, applied=None) == 100


def test_an_agent_that_got_nothing_in_this_epoch_has_read_to_where_it_began_or_control_records_end(positions):
    assert positions.read_to(TP, applied=None) == 100
    positions.take(TP, Read(100, 101, []))
    assert positions.read_to(TP, applied=None) == 101


def test_what_is_finished_after_a_partition_was_lost_changes_nothing(positions):
    stale = positions.take(TP, Read(100, 105, ["r"]))
    positions.clear()
    positions.finish(TP, stale)
    assert positions.committable(TP) is None
    positions.reset({TP: 100})
    positions.take(TP, Read(100, 105, ["r"]))
    positions.finish(TP, stale)
    assert positions.committable(TP) == 100
    assert positions.in_flight() == 1


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=10), st.data())
def test_only_reads_that_were_finished_are_committed_whatever_their_order(reads, data):
    positions, start = Positions(), 50
    positions.reset({TP: start})
    extents = []
    for length, has_records in reads:
        read = Read(start, start + length, ["r"] if has_records else [])
        assert positions.continues(TP, read)
        extents.append(positions.take(TP, read))
        start += length
    for extent in data.draw(st.permutations(extents)):
        positions.finish(TP, extent)
        assert positions.committable(TP) == min((e.first for e in extents if not e.finished), default=start)
