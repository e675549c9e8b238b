"""The sample conversations, and what must have happened once they are processed."""

from pathlib import Path

import msgspec
from msgspec import Struct

from deploy.cli.publish import Line
from schemas import codec
from schemas.conversations.messages import ConversationEnded, Message
from schemas.kafka import topics

SAMPLES = Path(__file__).parents[1] / "samples"
DAYS = tuple(SAMPLES / f"day-{number}.jsonl" for number in (1, 2, 3))
POLICIES = SAMPLES / "policies.json"
SHOWS = SAMPLES / "shows.json"


class Expected(Struct):
    """What a set of lines asks for: message ids by conversation, and when each conversation's end was published."""

    messages: dict[str, set[str]]
    ended: set[str]


def shows() -> dict[str, str]:
    """What each conversation is there to show."""
    return codec.decode(SHOWS.read_bytes(), dict[str, str])


def expected(lines: list[Line]) -> Expected:
    """Only valid events count: what is malformed is expected among the dead letters."""
    messages: dict[str, set[str]] = {}
    ended = set()
    for line in lines:
        try:
            if line.topic == topics.MESSAGES and line.value is not None:
                message = msgspec.convert(line.value, Message)
                messages.setdefault(message.conversation_id, set()).add(message.message_id)
            elif line.topic == topics.ENDED and line.value is not None:
                ended.add(msgspec.convert(line.value, ConversationEnded).conversation_id)
        except msgspec.ValidationError:
            continue
    return Expected({name: ids for name, ids in messages.items() if name in ended}, ended)
