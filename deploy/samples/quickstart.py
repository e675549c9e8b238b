"""Says something as a chat service would, follows what is remembered of it, and asks for context before a model call."""

import asyncio
import json
from datetime import UTC, datetime
from uuid import uuid4

from aiokafka import AIOKafkaProducer
from memstream_client import Memstream


async def main(bootstrap_servers: str = "127.0.0.1:29092", url: str = "http://127.0.0.1:28080") -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as kafka, Memstream(url) as memstream:
        place = await memstream.place("kitchen/ada")  # events from here on
        event = {"conversation_id": str(uuid4()), "timestamp": datetime.now(UTC).isoformat()}
        said = {"message_id": "m1", "role": "user", "content": "I'm allergic to peanuts.", "user_id": "ada"}
        for topic, value in {
            "chat.messages": event | said | {"app_id": "kitchen"},
            "chat.conversations.ended": event,
        }.items():
            await kafka.send_and_wait(topic, json.dumps(value).encode(), key=event["conversation_id"].encode())
        async for told in memstream.events("kitchen/ada", after=place):
            print(told.change, told.memory and told.memory.text)  # created User is allergic to peanuts.
            break
        block = await memstream.context("What may I not eat?", "kitchen/ada")
        print(block.text)  # put this into the prompt of the next model call


if __name__ == "__main__":
    asyncio.run(main())
