"""The sample conversations, and the results expected of them."""

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
    """The expectations of some lines: message ids by conversation, and the time of each conversation's end."""

    messages: dict[str, set[str]]
    ended: set[str]


def shows() -> dict[str, str]:
    """The purpose of each conversation."""
    return codec.decode(SHOWS.read_bytes(), dict[str, str])


def expected(lines: list[Line]) -> Expected:
    """The expectations of valid events; malformed ones are expected among the dead letters."""
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
