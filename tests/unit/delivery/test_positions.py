"""Continuity of reads within a partition, and committable offsets."""

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


def test_a_read_that_starts_at_the_expected_offset_continues_the_partition(positions):
    assert positions.continues(TP, Read(100, 105, ["r"]))
    positions.take(TP, Read(100, 105, ["r"]))
    assert positions.expected(TP) == 105
    assert positions.continues(TP, Read(105, 106, ["r"]))


@pytest.mark.parametrize("start", [99, 101, 105])
def test_a_read_that_starts_at_another_offset_does_not_continue_the_partition(positions, start):
    assert not positions.continues(TP, Read(start, start + 5, ["r"]))


def test_a_partition_not_assigned_accepts_no_read_and_has_no_committable_offset(positions):
    assert OTHER not in positions
    assert list(positions) == [TP]
    assert not positions.continues(OTHER, Read(0, 5, ["r"]))
    assert positions.committable(OTHER) is None


def test_gaps_inside_a_read_are_part_of_its_extent(positions):
    extent = positions.take(TP, Read(100, 120, ["only", "two"]))
    assert (extent.first, extent.end) == (100, 120)
    assert positions.committable(TP) == 100
    positions.finish(TP, extent)
    assert positions.committable(TP) == 120


def test_control_records_alone_leave_no_lag(positions):
    positions.finish(TP, positions.take(TP, Read(100, 103, ["r"])))
    positions.finish(TP, positions.take(TP, Read(103, 104, [])))
    assert positions.committable(TP) == 104


def test_control_records_are_not_committed_before_earlier_work_is_finished(positions):
    work = positions.take(TP, Read(100, 103, ["r"]))
    positions.finish(TP, positions.take(TP, Read(103, 104, [])))
    assert positions.committable(TP) == 100
    positions.finish(TP, work)
    assert positions.committable(TP) == 104


def test_read_to_includes_trailing_control_records_if_the_agent_has_applied_everything(positions):
    positions.take(TP, Read(100, 103, ["r"]))
    positions.take(TP, Read(103, 104, []))
    assert positions.read_to(TP, applied=103) == 104


def test_read_to_is_the_applied_offset_if_the_agent_has_queued_work(positions):
    positions.take(TP, Read(100, 103, ["r"]))
    positions.take(TP, Read(103, 107, ["r"]))
    positions.take(TP, Read(107, 108, []))
    assert positions.read_to(TP, applied=103) == 103
    assert positions.read_to(TP, applied=None) == 100


def test_read_to_is_the_start_or_the_end_of_control_records_if_nothing_was_applied(positions):
    assert positions.read_to(TP, applied=None) == 100
    positions.take(TP, Read(100, 101, []))
    assert positions.read_to(TP, applied=None) == 101


def test_work_finished_after_its_partition_was_lost_changes_nothing(positions):
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
def test_only_finished_reads_are_committable_in_any_finishing_order(reads, data):
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
