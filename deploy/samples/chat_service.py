"""A chat service that uses memstream: it needs a Kafka client and the names of three topics, nothing else."""

import asyncio
import json
import sys
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

TURNS = (
    ("user", "Hi! I'm allergic to peanuts."),
    ("assistant", "Noted. What shall we cook tonight?"),
    ("user", "Something quick. I prefer short recipes."),
)


async def main(bootstrap_servers: str) -> list[dict[str, Any]]:
    """Has one conversation, then prints and returns what memstream remembers of it."""
    conversation = f"kitchen-{uuid4()}"
    consumer = AIOKafkaConsumer("memory.events", bootstrap_servers=bootstrap_servers)
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap_servers, enable_idempotence=True)
    async with consumer, producer:
        await consumer.seek_to_end()  # only what is published from here on
        for number, (role, content) in enumerate(TURNS, start=1):
            message = {"message_id": f"{conversation}-{number}", "role": role, "content": content}
            await publish(producer, "chat.messages", conversation, message | {"app_id": "kitchen", "user_id": "ada"})
        await publish(producer, "chat.conversations.ended", conversation, {"message_count": len(TURNS)})
        return [event async for event in events_of(consumer, conversation)]


async def publish(producer: AIOKafkaProducer, topic: str, conversation: str, fields: dict[str, Any]) -> None:
    """The key keeps a conversation in one partition, and so in order."""
    event = {"conversation_id": conversation, "timestamp": datetime.now(UTC).isoformat()} | fields
    await producer.send_and_wait(topic, json.dumps(event).encode(), key=conversation.encode())


async def events_of(consumer: AIOKafkaConsumer, conversation: str, first_s: float = 60, silence_s: float = 3) -> Any:
    """Memory events that came from the conversation; a service would listen for ever, in a consumer group of its own."""
    wait_s = first_s
    while True:
        try:
            record = await asyncio.wait_for(consumer.getone(), wait_s)
        except TimeoutError:
            return
        event = json.loads(record.value)
        memory = event["data"]["memory"]
        if any(source["conversation_id"] == conversation for source in memory["sources"]):
            print(f"{memory['namespace']}: {event['data']['change']} {memory['kind']}: {memory['text']}")
            yield event
            wait_s = silence_s


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
