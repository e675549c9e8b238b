"""Conversations with a known outcome: each user repeats one statement in two conversations, for one memory reinforced
once."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from schemas import codec
from schemas.conversations.messages import ConversationEnded, Message
from schemas.kafka import topics
from schemas.kafka.records import Outgoing

APP = "chaos"
BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SMALL_TALK = (
    "Thanks!",
    "Hello there.",
    "What time is it?",
    "Could you explain that again?",
    "Hm.",
    "How does this work?",
)
LONG_ANSWER = " ".join(f"Step {number}: press the button and wait until the lamp is green." for number in range(1, 31))
LONG_ANSWER_EVERY = 10  # conversations; it makes two passages
ANSWERS = ("Of course.", "Here you are.", "It is simple: press the button.", "You are welcome.")


class Conversation(Struct, frozen=True):
    """A conversation with its messages in order; two conversations share a user, and so a memory."""

    conversation_id: str
    user_id: str
    messages: tuple[Message, ...]

    def end(self) -> ConversationEnded:
        last = self.messages[-1]
        return ConversationEnded(
            conversation_id=self.conversation_id,
            timestamp=last.timestamp + timedelta(seconds=1),
            last_message_id=last.message_id,
            message_count=len(self.messages),
        )


def marker(user_id: str) -> str:
    """A word that only this user's memory contains."""
    return f"Town{user_id.removeprefix('user-')}"


def conversations(count: int, lengths: tuple[int, int], rng: random.Random, first: int = 0) -> list[Conversation]:
    """Conversations numbered from `first`; other numbers have other users."""
    return [conversation(number, rng.randint(*lengths), rng) for number in range(first, first + count)]


def conversation(number: int, length: int, rng: random.Random) -> Conversation:
    conversation_id, user_id = f"chaos-{number:05d}", f"user-{number // 2:05d}"
    said_at = rng.randrange(0, length, 2)
    messages = []
    for index in range(length):
        is_user = index % 2 == 0
        text = f"I live in {marker(user_id)}." if index == said_at else rng.choice(SMALL_TALK if is_user else ANSWERS)
        if index == 1 and number % LONG_ANSWER_EVERY == 0:
            text = LONG_ANSWER
        messages.append(
            Message(
                conversation_id=conversation_id,
                message_id=f"{conversation_id}-{index:03d}",
                role="user" if is_user else "assistant",
                timestamp=BEGAN + timedelta(minutes=number, seconds=10 * index),
                content=text,
                app_id=APP,
                user_id=user_id,
            )
        )
    return Conversation(conversation_id, user_id, tuple(messages))


def interleaved(all_of_them: list[Conversation], open_at_once: int, rng: random.Random) -> Iterator[Outgoing]:
    """The messages and ends of many concurrent conversations, each conversation in order."""
    waiting = list(reversed(all_of_them))
    talking: list[list[Outgoing]] = []
    while waiting or talking:
        while waiting and len(talking) < open_at_once:
            talking.append(list(reversed(events(waiting.pop()))))
        speaker = rng.randrange(len(talking))
        yield talking[speaker].pop()
        if not talking[speaker]:
            talking.pop(speaker)


def events(of: Conversation) -> list[Outgoing]:
    key = of.conversation_id.encode()
    said = [Outgoing(topic=topics.MESSAGES, key=key, value=codec.encode(message)) for message in of.messages]
    return [*said, Outgoing(topic=topics.ENDED, key=key, value=codec.encode(of.end()))]
