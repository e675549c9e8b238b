"""Stops producers within a time limit, whatever they still have to send and whatever the broker does."""

import asyncio

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError


async def stop_within(producer: AIOKafkaProducer, within_s: float) -> Exception | None:
    """Stops a producer with its tasks and sockets. Returns the reason if it did not stop by itself within `within_s`
    seconds."""
    try:
        async with asyncio.timeout(within_s):
            await producer.stop()
    except (KafkaError, TimeoutError, OSError) as exc:
        # stop() waits for unsent records; without cancelling, its tasks and sockets would outlive it.
        await _dropped(producer)
        return exc
    return None


async def _dropped(producer: AIOKafkaProducer) -> None:
    """Drops a producer without waiting for a broker. The sender's close() awaits its requests until they time out, and for
    ever once the client is closed, as a retry then waits for metadata that never comes."""
    tasks = _tasks_of(producer)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for connection in producer.client._conns.values():
        if (transport := connection._protocol._transport) is not None:
            transport.abort()  # close() waits until the peer has read everything
    await producer.client.close()


def fail_waiting(producer: AIOKafkaProducer, reason: KafkaError) -> None:
    """Raises the reason for everybody who waits for a record of a dropped producer, or for metadata before sending one: nothing
    else ends their waiting."""
    producer._message_accumulator.fail_all(reason)
    metadata = producer.client._md_update_fut
    if metadata is not None and not metadata.done():
        metadata.set_exception(reason)
        metadata.exception()  # retrieved, if nobody waits


def _tasks_of(producer: AIOKafkaProducer) -> list[asyncio.Task[object]]:
    """The tasks of the sender, and of the flush that stop() began: aiokafka itself keeps only the sender's."""
    owners = (producer._sender, producer._message_accumulator)
    frames = {task: getattr(task.get_coro(), "cr_frame", None) for task in asyncio.all_tasks()}
    return [task for task, frame in frames.items() if frame is not None and frame.f_locals.get("self") in owners]
