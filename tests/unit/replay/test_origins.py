"""The Kafka records of a replay: messages of its interval published before it began, each once."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from agents.replay.conversations import read, replay_kafka, replayed_message
from schemas import codec
from schemas.conversations.messages import Message
from schemas.errors import Misconfigured
from schemas.policies.policies import DEFAULT_POLICY, Policies
from schemas.replay.generations import Generation, Plan
from sinks.archive.messages import ArchivedMessage
from sinks.replay.generations import PlannedConversation
from streams.kafka.log import Chunk
from tests.fakes.chats import BEGAN, message

SINCE, UNTIL, MADE = BEGAN, BEGAN + timedelta(hours=1), BEGAN + timedelta(hours=2)
MOMENT = timedelta(microseconds=1)


class Record(Struct):
    """The fields of an aiokafka record that a replay reads; `timestamp` in ms."""

    offset: int
    timestamp: int
    value: bytes


class Everybody:
    """A replayer that every conversation concerns but that of `unconcerned`, beside generations of which nothing is done."""

    def __init__(self, unconcerned: str = "") -> None:
        self.unconcerned = unconcerned
        self.taken: list[tuple[PlannedConversation, list[int]]] = []

    async def add(self, planned: PlannedConversation, messages: Sequence[ArchivedMessage]) -> None:
        self.taken.append((planned, [each.position for each in messages]))

    async def finish(self) -> None: ...

    async def done_of(self, generation_id: str, conversation_ids: Collection[str]) -> set[str]:
        return set()

    def feeds(self, messages: Sequence[ArchivedMessage]) -> bool:
        return messages[0].message.conversation_id != self.unconcerned


class OnePartition:
    """A log, in the order in which its records were sent."""

    def __init__(self, *records: Record) -> None:
        self.records = records

    async def since(self, topic: str, at: datetime) -> dict[int, int]:
        from_then_on = [each.offset for each in self.records if each.timestamp >= at.timestamp() * 1_000]
        return {0: min(from_then_on)} if from_then_on else {}

    async def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncIterator[Chunk]:
        for partition, position in positions.items():
            yield Chunk(partition, [each for each in self.records if each.offset >= position], len(self.records))


def generation(**plan: Any) -> Generation:
    fields = {"since": SINCE, "until": UNTIL, "policies": Policies((DEFAULT_POLICY,))} | plan
    return Generation(
        generation_id="0a1b2c3d", plan=Plan(**fields), status="building", created_at=MADE, changed_at=MADE
    )


def recorded(said: Message, offset: int = 0, at: float = MADE.timestamp()) -> Record:
    return Record(offset, round(at * 1_000), codec.encode(said))


async def pieces(*found: Chunk) -> AsyncIterator[Chunk]:
    for each in found:
        yield each


@pytest.mark.parametrize(
    ("at", "belongs"),
    [
        (SINCE - MOMENT, False),
        (SINCE, True),
        (UNTIL - MOMENT, True),
        (UNTIL, False),
    ],
    ids=["early", "at its first moment", "at its last", "late"],
)
def test_a_message_belongs_to_the_replayed_interval_by_its_timestamp(at: Any, belongs: bool):
    said = replace(message(1), timestamp=at)
    assert replayed_message(recorded(said), generation()) == (said if belongs else None)


def test_without_a_start_the_replayed_interval_begins_with_the_first_message():
    said = replace(message(1), timestamp=BEGAN - timedelta(days=9_000))
    assert replayed_message(recorded(said), generation(since=None)) == said


def test_a_message_published_after_the_replay_began_is_excluded_regardless_of_its_timestamp():
    assert replayed_message(recorded(message(1)), generation()) is not None
    assert replayed_message(recorded(message(1), at=MADE.timestamp() + 0.001), generation()) is None


def test_a_record_that_is_no_message_is_ignored():
    assert replayed_message(Record(0, 0, b"{}"), generation()) is None


async def test_duplicate_messages_are_read_once_in_order_of_partition_and_offset():
    first, second, other = (
        message(1),
        replace(message(2), timestamp=SINCE),
        replace(message(3), conversation_id="other"),
    )
    late = replace(message(4), timestamp=UNTIL)
    found = await read(
        pieces(
            Chunk(1, [recorded(second, 4), recorded(late, 5)], 6),
            Chunk(0, [recorded(first, 7), recorded(other, 8), recorded(first, 9)], 10),
        ),
        generation(),
        Everybody(unconcerned="other"),  # type: ignore[arg-type]
        10_000,
    )
    ((name, said),) = found.items()
    assert name == first.conversation_id
    assert [(each.partition, each.position, each.message) for each in said] == [(0, 7, first), (1, 4, second)]


async def test_a_replay_that_exceeds_the_memory_limit_is_rejected_counting_only_messages_in_the_interval():
    inside, outside = recorded(message(1)), recorded(replace(message(2), timestamp=UNTIL))
    most = len(inside.value)
    fits = await read(pieces(Chunk(0, [outside, inside], 2)), generation(), Everybody(), most)  # type: ignore[arg-type]
    assert len(fits) == 1
    with pytest.raises(Misconfigured, match="narrow it with --since and --until"):
        await read(pieces(Chunk(0, [inside], 1)), generation(), Everybody(), most - 1)  # type: ignore[arg-type]


async def test_a_message_timestamped_ahead_of_the_broker_clock_is_found_at_the_start_of_the_interval():
    long_before, ahead, in_time = (
        recorded(replace(message(1), timestamp=SINCE - timedelta(hours=2)), 0, SINCE.timestamp() - 7_200),
        recorded(replace(message(2), timestamp=SINCE), 1, SINCE.timestamp() - 600),
        recorded(replace(message(3), timestamp=SINCE + timedelta(minutes=5)), 2, SINCE.timestamp() + 300),
    )
    everybody: Any = Everybody()
    log: Any = OnePartition(long_before, ahead, in_time)
    await replay_kafka(log, "chat.messages", everybody, generation(), everybody, lambda: None)
    conversation = message(1).conversation_id
    assert everybody.taken == [(PlannedConversation(conversation, SINCE + timedelta(minutes=5)), [1, 2])]
