"""Generates the messages of the ingest benchmark from a seed: many interleaved conversations of realistic texts."""

import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from msgspec import Struct

from schemas import codec
from schemas.conversations.messages import ConversationEnded, Message
from schemas.kafka import topics
from schemas.kafka.records import Outgoing

OPEN_AT_ONCE = 500  # conversations
LENGTHS = (40, 60)  # messages of a conversation
MEDIAN_CHARS, SIGMA, LEAST_CHARS, MOST_CHARS = 200, 0.7, 10, 4_000  # of a content: log-normal, cut off at both ends
BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

# The most frequent words of English first, then what people talk about; drawn with Zipf's weights.
VOCABULARY = """
the to and a of I is in it you that for on we with are be have this not can my was at do as so but if or me what they
will there your about would from just one our when all how has them no up out know get more time like which some could
want then should because need only now been her their think see make also work week after first into new where going
people problem meeting tomorrow budget question customer report order account project version deadline office team
invoice password schedule calendar database deployment Friday Monday September breakfast vegetarian daughter birthday
Lisbon Amsterdam apartment guitar marathon training doctor appointment allergic peanuts insurance mortgage passport
luggage reservation restaurant recommendation programming Python Kafka partition function exception configuration
error server production staging release documentation translation presentation colleague manager university semester
professor thesis experiment measurement temperature weather approximately unfortunately nevertheless understanding
responsibility 2026 15 300 9:30 48% $1,200
"""
WORDS = VOCABULARY.split()
WEIGHTS = tuple(accumulate(1 / (rank + 3) for rank in range(len(WORDS))))


class Chat(Struct):
    """A conversation that is going on: how many messages it will have, and had."""

    conversation_id: str
    user_id: str
    length: int
    last_message_id: str = ""
    said: int = 0

    @property
    def over(self) -> bool:
        return self.said == self.length


def interleaved(
    rng: random.Random, lengths: tuple[int, int] = LENGTHS, open_at_once: int = OPEN_AT_ONCE, with_ends: bool = False
) -> Iterator[Outgoing]:
    """Messages without end, in the order of their publication; a conversation that ends makes room for the next.

    The first conversations start at random positions, so that ends and beginnings are spread evenly from the start.
    """
    chats = [opened(rng, rng.randint(1, lengths[1])) for _ in range(open_at_once)]
    moment = BEGAN
    while True:
        place = rng.randrange(len(chats))
        chat, moment = chats[place], moment + timedelta(milliseconds=5)
        yield message(chat, moment, rng)
        if chat.over:
            if with_ends:
                yield end(chat, moment)
            chats[place] = opened(rng, rng.randint(*lengths))


def opened(rng: random.Random, length: int) -> Chat:
    return Chat(f"conv-{rng.getrandbits(64):016x}", f"user-{rng.randrange(3_000):04d}", length)


def message(chat: Chat, moment: datetime, rng: random.Random) -> Outgoing:
    """The next one; user and assistant take turns."""
    chat.said += 1
    chat.last_message_id = f"{rng.getrandbits(128):032x}"
    said = Message(
        conversation_id=chat.conversation_id,
        message_id=chat.last_message_id,
        role="user" if chat.said % 2 else "assistant",
        timestamp=moment,
        content=text(rng),
        app_id="benchmark",
        user_id=chat.user_id,
    )
    return Outgoing(topic=topics.MESSAGES, key=chat.conversation_id.encode(), value=codec.encode(said))


def end(chat: Chat, moment: datetime) -> Outgoing:
    over = ConversationEnded(
        conversation_id=chat.conversation_id,
        timestamp=moment,
        last_message_id=chat.last_message_id,
        message_count=chat.length,
    )
    return Outgoing(topic=topics.ENDED, key=chat.conversation_id.encode(), value=codec.encode(over))


def text(rng: random.Random) -> str:
    """Words up to a log-normal number of characters."""
    wanted = min(max(round(rng.lognormvariate(math.log(MEDIAN_CHARS), SIGMA)), LEAST_CHARS), MOST_CHARS)
    words = rng.choices(
        WORDS, cum_weights=WEIGHTS, k=wanted // 4 + 2
    )  # a word and its space have 4 characters and more
    return " ".join(words)[:wanted]
