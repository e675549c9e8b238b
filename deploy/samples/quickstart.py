"""Publishes a message, follows the resulting memories, and requests context for a model call."""

import asyncio
import sys
from uuid import uuid4

from aiokafka import AIOKafkaProducer
from memstream_client import Memstream
from memstream_events import chat_message, conversation_ended


async def main(bootstrap_servers: str = "127.0.0.1:29092", url: str = "http://127.0.0.1:28080") -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as kafka, Memstream(url) as memstream:
        position, talk = await memstream.latest_position("kitchen/ada"), str(uuid4())
        message = chat_message(talk, "user", "I'm allergic to peanuts.", app_id="kitchen", user_id="ada")
        await kafka.send_and_wait(*message)
        await kafka.send_and_wait(*conversation_ended(talk))
        async for event in memstream.events("kitchen/ada", after=position):
            print(event.change, event.memory and event.memory.text)  # created User is allergic to peanuts.
            break
        block = await memstream.context("What may I not eat?", "kitchen/ada")
        print(block.text)  # put this into the prompt of the next model call


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
