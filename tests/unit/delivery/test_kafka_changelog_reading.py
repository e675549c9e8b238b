"""Recovery reads the changelog on Kafka from the given position to its end at the start."""

import asyncio

import pytest
from aiokafka.errors import KafkaConnectionError, OffsetOutOfRangeError

from schemas.errors import Retryable
from tests.unit.delivery.stub_kafka import HANG, MARKER, TOPIC, Coordinator, changelog, installed

A, B, GONE = (b"a", b"1"), (b"b", b"1"), (b"a", None)


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    return installed(monkeypatch)


class Reader:
    """Notes what it was asked and what it was given; starts at the beginning unless told otherwise."""

    def __init__(self, **starts: int) -> None:
        self.starts = {int(name.removeprefix("p")): start for name, start in starts.items()}
        self.ranges: list[tuple[int, int, int]] = []
        self.given: list[tuple[int, dict, int]] = []

    def follow(self, partition: int, beginning: int, end: int) -> int:
        self.ranges.append((partition, beginning, end))
        return self.starts.get(partition, beginning)

    def restore(self, partition: int, rows: dict, offset: int) -> None:
        self.given.append((partition, rows, offset))

    async def read(self, *partitions: int, timeout_s: float = 30.0) -> "Reader":
        await changelog(timeout_s=timeout_s).read(partitions, self.follow, self.restore)
        return self


async def test_reading_ends_at_the_log_end_position_after_trailing_transaction_markers(coordinator):
    coordinator.logs[0] = [A, B, MARKER, GONE, MARKER, MARKER, MARKER, MARKER]
    reader = await asyncio.wait_for(Reader().read(0), 60.0)
    assert reader.given == [
        (0, {b"a": b"1", b"b": b"1"}, 3),
        (0, {b"a": None}, 6),
        (0, {}, 8),
    ]
    assert coordinator.open_clients == []


async def test_reading_begins_at_the_offset_of_the_store(coordinator):
    coordinator.logs[0], coordinator.beginnings[0] = [A, A, A, A, B, MARKER], 2
    reader = await Reader(p0=4).read(0)
    assert reader.ranges == [(0, 2, 6)]
    assert reader.given == [(0, {b"b": b"1"}, 6)]


async def test_a_store_already_at_the_log_end_receives_no_rows(coordinator):
    coordinator.logs[0] = [A, MARKER]
    reader = await Reader(p0=2).read(0)
    assert reader.given == []
    assert "getmany" not in coordinator.reached


async def test_an_empty_changelog_is_read_at_once(coordinator):
    reader = await Reader().read(0, 1)
    assert sorted(reader.ranges) == [(0, 0, 0), (1, 0, 0)]
    assert reader.given == []


async def test_each_partition_is_read_to_its_own_end_and_no_further(coordinator):
    coordinator.logs[0], coordinator.logs[1] = [A], [B] * 7
    reader = await Reader().read(0, 1)
    assert [(partition, offset) for partition, _, offset in reader.given] == [(0, 1), (1, 3), (1, 6), (1, 7)]


async def test_the_latest_of_several_rows_of_a_key_is_restored(coordinator):
    coordinator.logs[0] = [A, (b"a", b"2"), GONE]
    assert (await Reader().read(0)).given == [(0, {b"a": None}, 3)]


async def test_records_deleted_during_the_read_raise_retryable_and_a_new_read_succeeds(coordinator):
    """Compaction may take the place away between asking for the beginning and reading there."""
    coordinator.logs[0] = [A, B]
    coordinator.on("getmany", OffsetOutOfRangeError({}))
    with pytest.raises(Retryable, match=TOPIC):
        await Reader().read(0)
    assert coordinator.clients[0].settings["auto_offset_reset"] == "none", "else the client jumps over the hole"
    assert coordinator.open_clients == []
    assert (await Reader().read(0)).given == [(0, {b"a": b"1", b"b": b"1"}, 2)]


@pytest.mark.parametrize("call", ["start reader", "ends", "beginnings", "getmany", "position"])
@pytest.mark.parametrize("happening", [KafkaConnectionError(), OSError("reset"), HANG], ids=["Kafka", "OS", "hangs"])
async def test_any_client_failure_or_hang_while_reading_raises_retryable(coordinator, call, happening):
    coordinator.logs[0] = [A, B]
    coordinator.on(call, happening)
    begun = asyncio.get_running_loop().time()
    with pytest.raises(Retryable):
        await Reader().read(0, timeout_s=30.0)
    assert asyncio.get_running_loop().time() - begun <= 30.0
    assert coordinator.open_clients == []


async def test_reading_a_long_changelog_may_take_longer_than_the_timeout_of_one_call(coordinator):
    coordinator.logs[0] = [A] * 30
    for _ in range(10):
        answers = asyncio.Event()
        coordinator.on("getmany", answers)
        asyncio.get_running_loop().call_later(20.0 + 20.0 * _, answers.set)
    await Reader().read(0, timeout_s=30.0)
    assert asyncio.get_running_loop().time() >= 200.0


async def test_a_reader_that_receives_no_records_for_too_long_raises_retryable(coordinator):
    """Happens after a broker returned and the client does not know its new leadership."""
    coordinator.logs[0] = [A, B]
    coordinator.silent = True
    with pytest.raises(Retryable, match=TOPIC):
        await asyncio.wait_for(Reader().read(0, timeout_s=30.0), 60.0)
    assert coordinator.open_clients == []
    coordinator.silent = False
    assert (await Reader().read(0)).given == [(0, {b"a": b"1", b"b": b"1"}, 2)]


async def test_a_cancelled_read_leaves_no_client_open(coordinator):
    coordinator.logs[0] = [A]
    coordinator.on("getmany", HANG)
    reading = asyncio.create_task(Reader().read(0))
    await asyncio.sleep(1.0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert coordinator.open_clients == []


async def test_the_reader_uses_read_committed_isolation_and_no_consumer_group(coordinator):
    await Reader().read(0)
    settings = coordinator.clients[0].settings
    assert settings["isolation_level"] == "read_committed"
    assert settings["group_id"] is None
    assert settings["enable_auto_commit"] is False


async def test_source_returns_the_cluster_id_and_the_topic(coordinator):
    assert await changelog().source() == f"cluster-1/{TOPIC}"
    assert coordinator.open_clients == []


@pytest.mark.parametrize("call", ["start admin", "describe"])
@pytest.mark.parametrize("happening", [KafkaConnectionError(), OSError("reset"), HANG], ids=["Kafka", "OS", "hangs"])
async def test_source_raises_retryable_if_the_cluster_id_cannot_be_fetched(coordinator, call, happening):
    coordinator.on(call, happening)
    with pytest.raises(Retryable, match="id of the Kafka cluster"):
        await changelog(timeout_s=30.0).source()
    assert asyncio.get_running_loop().time() <= 30.0
    assert coordinator.open_clients == []


async def test_a_reader_whose_stop_is_cancelled_internally_is_closed_and_its_read_error_raised(coordinator):
    coordinator.logs[0] = [A, MARKER]
    coordinator.on("getmany", KafkaConnectionError())
    coordinator.on("stop reader", asyncio.CancelledError())
    with pytest.raises(Retryable, match="cannot read"):
        await Reader().read(0)
    assert coordinator.open_clients == []
