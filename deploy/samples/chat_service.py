"""A sample chat service: it publishes messages to Kafka and reads memories over HTTP.

It needs a Kafka client, httpx and the client module beside it, but not memstream itself.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from uuid import uuid4

from aiokafka import AIOKafkaProducer
from memstream_client import Event, Memstream
from memstream_events import chat_message, conversation_ended

NAMESPACE = "kitchen/ada"  # app and user
QUESTIONS = ("Hi! I'm allergic to peanuts.", "What shall we cook? I prefer short recipes.")


async def main(bootstrap_servers: str, url: str, key: str | None = None) -> list[Event]:
    """Has a conversation, follows the resulting memories, then starts another conversation that uses them."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap_servers, enable_idempotence=True)
    async with producer, Memstream(url, key) as memstream:
        position = await memstream.latest_position(NAMESPACE)
        first, later = f"kitchen-{uuid4()}", f"kitchen-{uuid4()}"
        for number, question in enumerate(QUESTIONS):
            await turn(producer, memstream, first, number, question)
            await asyncio.sleep(2)  # time for the user to read and type
        await producer.send_and_wait(*conversation_ended(first, message_count=2 * len(QUESTIONS)))
        changes = []
        async with aclosing(memstream.events(NAMESPACE, after=position)) as events:
            async for event in of_conversation(events, first):
                print(f"{event.namespace}: {event.change} {event.memory.kind}: {event.memory.text}")
                changes.append(event)
        await turn(producer, memstream, later, 0, "What may I not eat?")
        return changes


async def turn(producer: AIOKafkaProducer, memstream: Memstream, conversation: str, number: int, question: str) -> None:
    """Requests context for the model, gets its answer, and publishes both messages. The user never waits for extraction."""
    context = await memstream.context(question, NAMESPACE, conversation_id=conversation, max_tokens=500)
    answer = reply(context.text, question)
    for place, (role, content) in enumerate((("user", question), ("assistant", answer))):
        message_id = f"{conversation}-{2 * number + place}"
        message = chat_message(conversation, role, content, message_id=message_id, app_id="kitchen", user_id="ada")
        await producer.send_and_wait(*message)


def reply(context: str, question: str) -> str:
    """Stands for a model call with the context in the prompt."""
    print(f"> {question}")
    print("\n".join(f"  | {line}" for line in context.splitlines()) or "  | (nothing is remembered yet)")
    return "Let me see."


async def of_conversation(
    events: AsyncIterator[Event], conversation: str, first_s: float = 60, silence_s: float = 3
) -> AsyncIterator[Event]:
    """Memory events that come from the conversation. A real service follows events without end and stores the last `place`."""
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
