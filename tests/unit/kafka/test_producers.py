"""Closing a producer is bounded in time when its broker does not respond, and leaves nothing open."""

import asyncio
import gc
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.conn import AIOKafkaConnection
from aiokafka.protocol.metadata import MetadataResponse_v1

from streams.kafka.producers import stop_within

MANY_BYTES = 16_000_000  # more than sockets take that nobody reads from


class SilentBroker(asyncio.Protocol):
    """Takes connections, and neither reads nor answers."""

    def __init__(self) -> None:
        self.known, self.lost = asyncio.Event(), asyncio.Event()

    def connection_made(self, transport: Any) -> None:
        transport.pause_reading()
        self.transport = transport
        self.known.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()


@pytest.mark.parametrize("answers", [False, True], ids=["when connecting already", "to what is produced"])
async def test_stopping_a_producer_with_a_silent_broker_times_out_and_leaves_no_tasks_behind(
    answers: bool, monkeypatch: pytest.MonkeyPatch
):
    if answers:

        async def versions(connection: Any) -> None:
            connection._versions = {0: (0, 7), 3: (0, 5)}

        monkeypatch.setattr(AIOKafkaConnection, "_do_version_lookup", versions)
    loop, broker = asyncio.get_running_loop(), SilentBroker()
    complaints: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _loop, context: complaints.append(context))
    async with await loop.create_server(lambda: broker, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        producer = AIOKafkaProducer(bootstrap_servers=f"127.0.0.1:{port}", max_request_size=2 * MANY_BYTES)
        producer.client.cluster.update_metadata(
            MetadataResponse_v1([(0, "127.0.0.1", port, None)], 0, [(0, "t", False, [(0, 0, 0, [0], [0])])])
        )
        async with asyncio.timeout(10.0):
            await producer._sender.start()
            await producer.send("t", b"x" * MANY_BYTES)
            await broker.known.wait()
            assert isinstance(await stop_within(producer, 0.1), TimeoutError)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            broker.transport.resume_reading()
            await broker.lost.wait()
    del producer
    gc.collect()
    assert complaints == []
