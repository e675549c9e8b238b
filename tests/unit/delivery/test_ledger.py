"""Three layers of pending rows between an agent and the broker."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.kafka.records import Outgoing
from streams.delivery.fence import Fence
from streams.delivery.ledger import TRUSTED_S, Ledger
from streams.delivery.store import Mark, MemoryStore
from tests.fakes.batches import batch_of

NOW = 1_800_000_000.0
SOURCE = "cluster/changelog"


def effect(name: str) -> Outgoing:
    return Outgoing(topic="memory.extraction-requests", key=None, value=name.encode())


offsets = itertools.count()


def a_batch(first: int | None = None, topic: str = "chat.messages"):
    """One after the other, unless it is said where."""
    first = next(offsets) if first is None else first
    fence = Fence()
    fence.open()
    return batch_of(fence, topic, first, [b"x"])


def test_reads_see_the_latest_of_three_layers():
    ledger = Ledger()
    ledger.restore({b"a": b"safe", b"b": b"safe", b"c": b"safe"}, 1)
    ledger.record(a_batch(), {b"b": b"leaving", b"c": b"leaving"}, [])
    ledger.begin_checkpoint()
    ledger.record(a_batch(), {b"c": b"changed"}, [])
    assert [ledger.read(key) for key in (b"a", b"b", b"c", b"d")] == [b"safe", b"leaving", b"changed", None]


@pytest.mark.parametrize("layer", ["leaving", "changed"])
def test_a_row_deleted_in_an_upper_layer_is_not_read_or_scanned(layer):
    ledger = Ledger()
    ledger.restore({b"a": b"safe"}, 1)
    ledger.record(a_batch(), {b"a": None}, [])
    if layer == "leaving":
        ledger.begin_checkpoint()
    assert ledger.read(b"a") is None
    assert list(ledger.scan()) == []


def test_a_scan_yields_each_row_once_as_reads_see_it():
    ledger = Ledger()
    ledger.restore({b"a": b"1", b"b": b"1", b"gone": b"1"}, 1)
    ledger.record(a_batch(), {b"b": b"2", b"c": b"2", b"gone": None}, [])
    ledger.begin_checkpoint()
    ledger.record(a_batch(), {b"c": b"3", b"d": b"3"}, [])
    assert sorted(ledger.scan()) == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"d", b"3")]


def test_begin_checkpoint_raises_while_another_checkpoint_is_running():
    ledger = Ledger()
    ledger.record(a_batch(), {b"a": b"1"}, [])
    assert ledger.dirty
    ledger.begin_checkpoint()
    ledger.record(a_batch(), {b"a": b"2"}, [])
    assert ledger.busy
    assert not ledger.dirty
    with pytest.raises(RuntimeError, match="already running"):
        ledger.begin_checkpoint()


def test_committed_rows_are_safe_and_later_rows_stay_dirty():
    ledger = Ledger()
    ledger.restore({b"deleted": b"1"}, 1)
    ledger.record(a_batch(), {b"a": b"1", b"deleted": None}, [])
    ledger.begin_checkpoint()
    ledger.record(a_batch(), {b"a": b"2"}, [])
    ledger.mark_committed(7, NOW)
    assert ledger.complete_to == 7
    assert ledger.read(b"a") == b"2"
    assert ledger.dirty


def test_a_checkpoint_without_rows_does_not_move_the_complete_offset_backwards():
    ledger = Ledger()
    ledger.restore({}, 9)
    ledger.record(a_batch(), {}, [])
    ledger.begin_checkpoint()
    ledger.mark_committed(0, NOW)
    assert ledger.complete_to == 9


def test_a_checkpoint_orders_chunks_before_their_head_even_if_the_head_was_recorded_first():
    ledger = Ledger()
    ledger.record(a_batch(), {b"chunk-1": b"1", b"head": b"1"}, [])
    ledger.record(a_batch(), {b"chunk-2": b"1", b"head": b"2"}, [])
    assert list(ledger.begin_checkpoint().rows.items()) == [(b"chunk-1", b"1"), (b"chunk-2", b"1"), (b"head", b"2")]


def test_a_checkpoint_commits_the_end_offset_of_the_last_batch_of_each_topic():
    ledger = Ledger()
    for batch in (a_batch(3, "messages"), a_batch(9, "ended"), a_batch(4, "messages")):
        ledger.record(batch, {}, [])
    assert ledger.begin_checkpoint().offsets() == {"messages": 5, "ended": 10}


def test_record_rejects_a_batch_that_does_not_follow_the_last_offset():
    """A batch that failed and was passed over would be committed over by the next one."""
    ledger = Ledger()
    ledger.record(a_batch(3, "messages"), {}, [])
    ledger.record(a_batch(7, "ended"), {}, [])
    for first in (3, 5):
        with pytest.raises(RuntimeError, match="does not follow offset 4"):
            ledger.record(a_batch(first, "messages"), {}, [])
    ledger.record(a_batch(4, "messages"), {}, [])
    assert ledger.begin_checkpoint().offsets() == {"messages": 5, "ended": 8}
    ledger.drop_uncommitted()
    ledger.record(a_batch(3, "messages"), {}, [])


def test_pending_bytes_counts_rows_and_effects_until_they_are_committed():
    ledger = Ledger()
    ledger.record(a_batch(), {b"key": b"value", b"gone": None}, [effect("four")])
    assert ledger.pending_bytes == 3 + 5 + 4 + 4
    ledger.begin_checkpoint()
    ledger.record(a_batch(), {b"key": b"x"}, [])
    assert ledger.pending_bytes == 3 + 5 + 4 + 4 + 4
    ledger.mark_committed(2, NOW)
    assert ledger.pending_bytes == 4


def test_drop_uncommitted_keeps_only_committed_rows():
    ledger = Ledger()
    ledger.restore({b"a": b"safe"}, 1)
    ledger.record(a_batch(), {b"a": b"leaving"}, [effect("one")])
    ledger.begin_checkpoint()
    ledger.record(a_batch(), {b"a": b"changed", b"b": b"changed"}, [])
    ledger.drop_uncommitted()
    assert list(ledger.scan()) == [(b"a", b"safe")]
    assert not ledger.dirty
    assert not ledger.busy
    assert ledger.pending_bytes == 0


def followed(**mark) -> tuple[Ledger, MemoryStore]:
    """A ledger on a store that has a row and once stood at offset 5 of the changelog."""
    store = MemoryStore()
    store.write({b"a": b"1"}, Mark(**{"source": SOURCE, "offset": 5, "current_at": NOW} | mark))
    return Ledger(store), store


def test_a_trusted_store_is_updated_from_its_own_changelog_offset():
    ledger, _ = followed()
    assert ledger.read_from(SOURCE, 0, 9, NOW + TRUSTED_S) == 5
    assert ledger.read(b"a") == b"1"


@pytest.mark.parametrize(
    ("mark", "now"),
    [
        ({"source": "another cluster/changelog"}, NOW),
        ({"offset": 10}, NOW),  # the changelog was made anew
        ({"offset": 1}, NOW),  # records behind it were deleted
        ({}, NOW + TRUSTED_S + 1),  # compaction may have taken deletions away
        ({}, NOW - TRUSTED_S - 1),
    ],
)
def test_a_store_that_cannot_be_updated_is_cleared_and_read_from_the_beginning(mark, now):
    ledger, store = followed(**mark)
    assert ledger.read_from(SOURCE, 2, 9, now) == 2
    assert list(ledger.scan()) == []
    assert store.mark == Mark(SOURCE, 2, now)


def test_a_store_is_marked_current_only_after_it_reached_the_log_end():
    """Else a recovery that is broken off again and again would outlive the deletions it has not seen."""
    ledger, store = followed()
    ledger.restore({b"b": b"1"}, 7)
    assert store.mark == Mark(SOURCE, 7, NOW)
    ledger.mark_current(NOW + 60)
    assert store.mark == Mark(SOURCE, 7, NOW + 60)
    ledger.record(a_batch(), {b"b": b"2"}, [])
    ledger.begin_checkpoint()
    ledger.mark_committed(8, NOW + 120)
    assert store.mark == Mark(SOURCE, 8, NOW + 120)


keys = st.sampled_from([b"a", b"b", b"c"])
changes = st.dictionaries(keys, st.none() | st.binary(min_size=1, max_size=2), max_size=3)
steps = st.lists(changes | st.sampled_from(["leave", "arrived", "forget"]), max_size=25)


@given(steps)
def test_a_ledger_behaves_like_one_dictionary_under_any_sequence_of_steps(steps):
    store = MemoryStore()
    ledger = Ledger(store)
    seen, safe, left = {}, {}, None
    for step in steps:
        if isinstance(step, dict):
            ledger.record(a_batch(), dict(step), [])
            seen |= step
        elif step == "leave" and ledger.dirty:
            left = dict(ledger.begin_checkpoint().rows)
        elif step == "arrived" and ledger.busy:
            ledger.mark_committed(1, NOW)
            safe |= left
        elif step == "forget":
            ledger.drop_uncommitted()
            seen = dict(safe)
        assert dict(ledger.scan()) == {key: value for key, value in seen.items() if value is not None}
        assert dict(store.scan()) == {key: value for key, value in safe.items() if value is not None}
