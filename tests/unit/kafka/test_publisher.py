"""Closing a publisher waits for pending records, but not for an unreachable broker."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaConnectionError

from schemas.errors import Retryable
from streams.kafka import publisher
from streams.kafka.publisher import KafkaPublisher


class Producer:
    """`stop` waits for what was not sent, as long as `away` is not set to False."""

    def __init__(self, away: bool, reached: bool = True) -> None:
        self._away, self._reached = away, reached
        self.dropped: list[str] = []
        self._sender = object()
        self._message_accumulator = object()
        self.client = SimpleNamespace(close=self._drop, _conns={})

    async def _drop(self) -> None:
        self.dropped.append("sockets")

    async def start(self) -> None:
        if not self._reached:
            raise KafkaConnectionError("nobody is there")

    async def stop(self) -> None:
        if self._away:
            await asyncio.Event().wait()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Any:
    def opened(producer: Producer) -> KafkaPublisher:
        monkeypatch.setattr(publisher, "AIOKafkaProducer", lambda **_settings: producer)
        monkeypatch.setattr(publisher, "CLOSED_WITHIN_S", 0.01)
        return KafkaPublisher({}, str)

    return opened


async def test_the_publisher_closes_in_time_without_the_broker_and_leaves_no_socket(
    opened: Any, caplog: pytest.LogCaptureFixture
):
    producer = Producer(away=True)
    with caplog.at_level(logging.WARNING):
        async with asyncio.timeout(5.0), opened(producer):
            pass
    assert producer.dropped == ["sockets"]
    assert "may not have arrived" in caplog.text


async def test_the_publisher_logs_no_warning_if_it_closes_in_time(opened: Any, caplog: pytest.LogCaptureFixture):
    producer = Producer(away=False)
    async with opened(producer):
        pass
    assert (producer.dropped, caplog.text) == ([], "")


async def test_a_failed_start_is_raised_even_if_stopping_fails_too(opened: Any):
    producer = Producer(away=True, reached=False)
    async with asyncio.timeout(5.0):
        with pytest.raises(Retryable, match="cannot reach the brokers"):
            async with opened(producer):
                pass
    assert producer.dropped == ["sockets"]
