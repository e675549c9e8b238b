"""A long-running worker logs no error about partitions that it leaves unfetched on purpose."""

import logging
import time
from collections.abc import AsyncIterator

import pytest
from faust.types import TP

from tests.fakes.leader import BareThread
from tests.fakes.record_batches import numbered_batch
from tests.unit.delivery.bare_consumer import MESSAGES, BareConsumer

CHANGELOG = TP("memstream-state-changelog", 0)
OLD_S = 100_000.0


class OldConsumer(BareConsumer):
    should_stop = False

    def __init__(self, thread: BareThread) -> None:
        super().__init__()
        self._thread = thread

    def assignment(self) -> set[TP]:
        return set(self._thread.kafka.assignment())


@pytest.fixture
async def thread() -> AsyncIterator[BareThread]:
    """With the time-outs of Faust, as a thread that was started long ago."""
    thread = BareThread({tp: {2: numbered_batch(0, 2)} for tp in (MESSAGES, CHANGELOG)})
    thread.kafka.assign({MESSAGES, CHANGELOG})
    thread.time_started = time.monotonic() - OLD_S
    thread.tp_fetch_request_timeout_secs = thread.tp_stream_timeout_secs = thread.tp_commit_timeout_secs = 300.0
    thread.log = logging.getLogger("faust.transport.drivers.aiokafka")
    yield thread
    await thread.end()


async def test_a_long_running_worker_logs_no_warnings_about_unfetched_partitions(thread, caplog):
    consumer = OldConsumer(thread)
    thread.consumer = consumer
    await consumer.verify_all_partitions_active()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
