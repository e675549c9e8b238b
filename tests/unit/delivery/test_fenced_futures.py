"""Unretrieved errors of futures are logged, except those of fenced transactions."""

import asyncio
import gc

import pytest
from aiokafka.errors import InvalidProducerEpoch, KafkaError, ProducerFenced

from streams.delivery.fenced_futures import leave_out_fenced_futures


@pytest.mark.parametrize(
    ("error", "is_reported"), [(ProducerFenced(), False), (InvalidProducerEpoch(), False), (KafkaError("gone"), True)]
)
async def test_unretrieved_future_errors_are_logged_unless_they_are_fencing_errors(
    error: Exception, is_reported: bool, caplog: pytest.LogCaptureFixture
) -> None:
    leave_out_fenced_futures()
    leave_out_fenced_futures()
    future = asyncio.get_running_loop().create_future()
    future.set_exception(error)
    del future
    gc.collect()
    assert ("never retrieved" in caplog.text) is is_reported
