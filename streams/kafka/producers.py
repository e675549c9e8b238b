"""Ending a producer: within a time, whatever it still wants to send, and whatever its broker does."""

import asyncio

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError


async def stopped_after(producer: AIOKafkaProducer, within_s: float) -> Exception | None:
    """Stops it, its tasks and sockets included. Returns why it did not end by itself within so many seconds, if it did not."""
    try:
        async with asyncio.timeout(within_s):
            await producer.stop()
    except (KafkaError, TimeoutError, OSError) as exc:
        # stop() waits for what was not sent; its tasks and sockets would outlive it.
        await _dropped(producer)
        return exc
    return None


async def _dropped(producer: AIOKafkaProducer) -> None:
    """Without waiting for a broker. The sender's own close() awaits what was asked of one that says nothing until the request's
    time is over, and for ever once the client is closed, which no longer tells of the metadata that a retry waits for."""
    tasks = _tasks_of(producer)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for connection in producer.client._conns.values():
        if (transport := connection._protocol._transport) is not None:
            transport.abort()  # to close is to wait until the peer has taken what is written
    await producer.client.close()


def _tasks_of(producer: AIOKafkaProducer) -> list[asyncio.Task[object]]:
    """The sender's and the flush that stop() began: aiokafka keeps hold of the sender's routine alone."""
    owners = (producer._sender, producer._message_accumulator)
    frames = {task: getattr(task.get_coro(), "cr_frame", None) for task in asyncio.all_tasks()}
    return [task for task, frame in frames.items() if frame is not None and frame.f_locals.get("self") in owners]
