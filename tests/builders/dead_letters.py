"""Records of the topic of dead letters, and of the topics that their letters come from."""

from types import SimpleNamespace
from typing import Any

from agents.dead_letters.writer import dead_letter
from schemas.errors import Rejected
from schemas.kafka.records import Outgoing
from tests.builders.slices import MONDAY

TRACE = ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")


def record_of(outgoing: Outgoing, partition: int = 3, offset: int = 17) -> Any:
    """The record as read from its topic."""
    return SimpleNamespace(
        topic=outgoing.topic,
        partition=partition,
        offset=offset,
        timestamp=0,
        key=outgoing.key,
        value=outgoing.value,
        headers=outgoing.headers,
    )


def source(**changed: Any) -> Any:
    """A record of `chat.messages`."""
    given = {"topic": "a.chat.messages", "partition": 5, "offset": 41, "timestamp": 1_700_000_000_000}
    return SimpleNamespace(**(given | {"key": b"c", "value": b"{}", "headers": (TRACE,)} | changed))


def put_aside(record: Any, reason: str = "invalid", stage: str = "windows") -> Any:
    """The record of a source's dead letter, written on MONDAY."""
    return record_of(dead_letter(record, stage, Rejected(reason, "not so"), MONDAY))
