"""A chat service that uses memstream: it publishes what is said to Kafka, and asks over HTTP what is remembered.

It needs a Kafka client, httpx, and the file beside it; nothing of memstream.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from aiokafka import AIOKafkaProducer
from memstream_client import Event, Memstream

NAMESPACE = "kitchen/ada"  # an app and a user of it
SAID = ("Hi! I'm allergic to peanuts.", "What shall we cook? I prefer short recipes.")


async def main(bootstrap_servers: str, url: str, key: str | None = None) -> list[Event]:
    """Has a conversation, follows what is remembered of it, then begins another one that knows it."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap_servers, enable_idempotence=True)
    async with producer, Memstream(url, key) as memstream:
        place = await memstream.place(NAMESPACE)  # events from here on
        first, later = f"kitchen-{uuid4()}", f"kitchen-{uuid4()}"
        for number, said in enumerate(SAID):
            await turn(producer, memstream, first, number, said)
            await asyncio.sleep(2)  # a person reads, thinks and types
        await publish(producer, "chat.conversations.ended", first, {"message_count": 2 * len(SAID)})
        remembered = []
        async with aclosing(memstream.events(NAMESPACE, after=place)) as events:
            async for event in of_conversation(events, first):
                print(f"{event.namespace}: {event.change} {event.memory.kind}: {event.memory.text}")
                remembered.append(event)
        await turn(producer, memstream, later, 0, "What may I not eat?")
        return remembered


async def turn(producer: AIOKafkaProducer, memstream: Memstream, conversation: str, number: int, said: str) -> None:
    """Asks for what the model should know, lets it answer, and publishes both: a user never waits for memstream to remember."""
    context = await memstream.context(said, NAMESPACE, conversation_id=conversation, max_tokens=500)
    answer = reply(context.text, said)
    for place, (role, content) in enumerate((("user", said), ("assistant", answer))):
        message = {"message_id": f"{conversation}-{2 * number + place}", "role": role, "content": content}
        await publish(producer, "chat.messages", conversation, message | {"app_id": "kitchen", "user_id": "ada"})


def reply(context: str, said: str) -> str:
    """Where a real service asks its model, with the context in the prompt."""
    print(f"> {said}")
    print("\n".join(f"  | {line}" for line in context.splitlines()) or "  | (nothing is remembered yet)")
    return "Let me see."


async def publish(producer: AIOKafkaProducer, topic: str, conversation: str, fields: dict[str, Any]) -> None:
    """The key keeps a conversation in one partition, and so in order."""
    event = {"conversation_id": conversation, "timestamp": datetime.now(UTC).isoformat()} | fields
    await producer.send_and_wait(topic, json.dumps(event).encode(), key=conversation.encode())


async def of_conversation(
    events: AsyncIterator[Event], conversation: str, first_s: float = 60, silence_s: float = 3
) -> AsyncIterator[Event]:
    """Events of memories that came from the conversation; a service would follow for ever, and keep the last event's `place`."""
    wait_s = first_s
    while True:
        try:
            event = await asyncio.wait_for(anext(events), wait_s)
        except TimeoutError:
            return
        if any(source["conversation_id"] == conversation for source in (event.memory.sources if event.memory else ())):
            yield event
            wait_s = silence_s


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
