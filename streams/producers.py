"""Ending a producer: within a time, whatever it still wants to send."""

import asyncio

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError


async def ended(producer: AIOKafkaProducer, within_s: float) -> Exception | None:
    """Stops it, its task and sockets included. Returns why it did not end by itself within so many seconds, if it did not."""
    try:
        async with asyncio.timeout(within_s):
            await producer.stop()
    except (KafkaError, TimeoutError, OSError) as exc:
        # stop() waits for what was not sent; its task and sockets would outlive it.
        await producer._sender.close()
        await producer.client.close()
        return exc
    return None
