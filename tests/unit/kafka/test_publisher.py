"""Closing a publisher waits for pending records, but not for an unreachable broker."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaConnectionError, MessageSizeTooLargeError

from schemas.errors import Rejected, Retryable
from schemas.kafka.records import Outgoing
from streams.kafka import publisher
from streams.kafka.publisher import KafkaPublisher


class Accumulator:
    """The records that are not confirmed yet, and why no more are accepted."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []
        self._exception: Exception | None = None

    def fail_all(self, exception: Exception) -> None:
        self._exception = exception
        for each in self.waiting:
            each.set_exception(exception)


class Producer:
    """`stop` waits for what was not sent, as long as `away` is not set to False."""

    def __init__(self, away: bool, reached: bool = True) -> None:
        self._away, self._reached = away, reached
        self.dropped: list[str] = []
        self.sent: list[bytes] = []
        self.stopped = False
        self.starting, self.answered = asyncio.Event(), asyncio.Event()
        self.answered.set()
        self._sender = object()
        self._message_accumulator = Accumulator()
        self.client = SimpleNamespace(close=self._drop, _conns={}, _md_update_fut=None)

    async def _drop(self) -> None:
        self.dropped.append("sockets")

    async def send(self, topic: str, *, value: bytes, **_fields: Any) -> asyncio.Future[None]:
        if self._message_accumulator._exception is not None:
            raise self._message_accumulator._exception
        self.sent.append(value)
        confirmed = asyncio.get_running_loop().create_future()
        if topic == "leaderless":
            self._message_accumulator.waiting.append(confirmed)
        elif topic == "tight":
            confirmed.set_exception(MessageSizeTooLargeError())
        else:
            confirmed.set_result(None)
        return confirmed

    async def start(self) -> None:
        self.starting.set()
        await self.answered.wait()
        if not self._reached:
            raise KafkaConnectionError("nobody is there")

    async def stop(self) -> None:
        self.stopped = True
        if self._away:
            await asyncio.Event().wait()


def record(topic: str, value: bytes = b"v") -> Outgoing:
    return Outgoing(topic=topic, key=b"k", value=value)


async def cancelled_while_replacing(publishing: KafkaPublisher, second: Producer) -> None:
    """A publisher whose record is refused is cancelled while the second producer starts, which waits for an answer."""
    second.answered.clear()
    refused = asyncio.create_task(publishing.publish([record("tight")]))
    await second.starting.wait()
    refused.cancel()
    await asyncio.gather(refused, return_exceptions=True)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Any:
    def opened(*producers: Producer) -> KafkaPublisher:
        following = iter(producers)
        monkeypatch.setattr(publisher, "AIOKafkaProducer", lambda **_settings: next(following))
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


async def test_a_refused_batch_ends_the_waiting_of_others_on_the_same_producer(opened: Any):
    first, second = Producer(away=True), Producer(away=False)
    async with asyncio.timeout(5.0), opened(first, second) as publishing:
        other = asyncio.create_task(publishing.publish([record("leaderless")]))
        with pytest.raises(Rejected):
            await publishing.publish([record("tight")])
        with pytest.raises(Retryable):
            await other
        await publishing.publish([record("usual")])
    assert (first.dropped, second.sent) == (["sockets"], [b"v"])


async def test_a_producer_that_accepts_no_more_records_is_replaced(opened: Any):
    first, second = Producer(away=False), Producer(away=False)
    async with opened(first, second) as publishing:
        first._message_accumulator.fail_all(KafkaConnectionError("the sender has ended"))
        with pytest.raises(Retryable):
            await publishing.publish([record("usual")])
        await publishing.publish([record("usual")])
    assert (first.stopped, second.sent, second.stopped) == (True, [b"v"], True)


async def test_a_replacement_goes_on_if_its_publisher_is_cancelled(opened: Any):
    first, second = Producer(away=False), Producer(away=False)
    async with asyncio.timeout(5.0), opened(first, second) as publishing:
        await cancelled_while_replacing(publishing, second)
        second.answered.set()
        with pytest.raises(Rejected):
            await publishing.publish([record("tight")])  # waits for the same replacement
        await publishing.publish([record("usual")])
    assert (first.stopped, second.sent, second.stopped) == (True, [b"v"], True)


async def test_closing_stops_a_producer_that_is_still_starting(opened: Any):
    first, second = Producer(away=False), Producer(away=False)
    async with asyncio.timeout(5.0), opened(first, second) as publishing:
        await cancelled_while_replacing(publishing, second)
    assert (first.stopped, second.stopped) == (True, True)
